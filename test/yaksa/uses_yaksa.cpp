// The header in C++ with every warning.
#include <yaksa.h>

int main() {
    const yaksa_type_t type = YAKSA_TYPE__DOUBLE;
    uintptr_t size = 0;
    if (yaksa_init(nullptr) != YAKSA_SUCCESS) return 1;
    const int rc = yaksa_type_get_size(type, &size);
    return yaksa_finalize() != YAKSA_SUCCESS || rc != YAKSA_SUCCESS || size != sizeof(double);
}
