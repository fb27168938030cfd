#include "failure.h"
#include "type.h"

namespace ucd_yaksa {
namespace {

// Runs a query of one type. Neither output may be NULL.
template <class Body>
int ask(const char *function, yaksa_type_t handle, const void *first, const void *second,
        Body &&body) {
    return guarded(function, [&] {
        if (first == nullptr || second == nullptr)
            return fail(YAKSA_ERR__INTERNAL, "an output is NULL; it must not be");
        const Type *type = nullptr;
        UCD_TRY(find_type(handle, type));
        return body(*type);
    });
}

} // namespace
} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_type_get_size(yaksa_type_t type, uintptr_t *size) {
    return ask(__func__, type, size, size, [&](const Type &known) {
        *size = known.size;
        return YAKSA_SUCCESS;
    });
}

int yaksa_type_get_extent(yaksa_type_t type, intptr_t *lb, intptr_t *extent) {
    return ask(__func__, type, lb, extent, [&](const Type &known) {
        *lb = known.lb;
        *extent = known.extent;
        return YAKSA_SUCCESS;
    });
}

int yaksa_type_get_true_extent(yaksa_type_t type, intptr_t *lb, intptr_t *extent) {
    return ask(__func__, type, lb, extent, [&](const Type &known) {
        return from_ucd(ucd_get_true_extent(known.layout, lb, extent));
    });
}
