// Prints whether this program runs with more rights than who started it, and what ucd_backend_get
// says of the one backend that is a plugin. It has libucd in itself, so that no library path is
// needed.
#include <ucd.h>

#include <sys/auxv.h>

#include <cstdio>
#include <cstring>

// Of the address sanitizer, if that is there: its leak check cannot look into a program with more
// rights, where it does not read its options from the environment either.
extern "C" const char *__asan_default_options() {
    return "detect_leaks=0";
}

int main() {
    std::printf("secure: %lu\n", getauxval(AT_SECURE));
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) {
        std::printf("init: %s\n", ucd_last_error());
        return 0;
    }
    std::printf("init: done\n");
    int count = 0;
    ucd_backend_count(&count);
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t desc = {};
        desc.struct_size = sizeof desc;
        if (ucd_backend_get(i, &desc) != UCD_SUCCESS || std::strcmp(desc.name, "cuda") != 0)
            continue;
        std::printf("devices: %u\nreason: %s\n", desc.devices, desc.reason);
    }
    return ucd_finalize() == UCD_SUCCESS ? 0 : 1;
}
