/* Loads libucd, uses it, and unloads it, time and again: afterwards it is really gone.
 *
 * Usage: unload_test LIBUCD
 */
#include "loaded_library.h"

static void use(void *library) {
    const int in[4] = {1, 2, 3, 4};
    int out[2] = {0, 0};
    ucd_type_t type = UCD_TYPE__NULL;
    uintptr_t moved = 0;
    require(CALL(ucd_init)(UCD_INFO__NULL) == UCD_SUCCESS, "ucd_init");
    require(CALL(ucd_create_vector)(2, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS,
            "ucd_create_vector");
    require(CALL(ucd_pack)(in, 1, type, 0, out, sizeof out, &moved, UCD_INFO__NULL,
                           UCD_OP__REPLACE) == UCD_SUCCESS,
            "ucd_pack");
    require(moved == sizeof out && out[0] == 1 && out[1] == 3, "what was packed");
    require(CALL(ucd_get_size)(UCD_TYPE__NULL, &moved) == UCD_ERR__INVALID_ARG, "ucd_get_size");
    require(CALL(ucd_last_error)()[0] != '\0', "ucd_last_error");
    require(CALL(ucd_free)(&type) == UCD_SUCCESS, "ucd_free");
    require(CALL(ucd_finalize)() == UCD_SUCCESS, "ucd_finalize");
}

int main(int count, char **arguments) {
    require(count == 2, "usage: unload_test LIBUCD");
    for (int round = 0; round < 20; ++round) {
        void *library =
            dlopen(arguments[1], RTLD_NOW | (round % 2 == 0 ? RTLD_LOCAL : RTLD_GLOBAL));
        require(library != NULL, "loading");
        use(library);
        require(dlclose(library) == 0, "unloading");
        require(dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) == NULL, "it is still there");
    }
    return 0;
}
