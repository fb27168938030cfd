/* A program of C that was written for yaksa. */
#include <yaksa.h>

/* Constants of yaksa are constants of the compiler. */
static const yaksa_type_t types[] = {YAKSA_TYPE__NULL, YAKSA_TYPE__2INT, YAKSA_TYPE___BOOL};
_Static_assert(sizeof(yaksa_type_t) == 8 && sizeof(yaksa_request_t) == 8 && sizeof(yaksa_op_t) == 8,
               "");
_Static_assert(YAKSA_OP__LAST == 11 && YAKSA_TYPE__LONG_DOUBLE_INT == 56 && YAKSA_TYPE__BYTE == 38,
               "");
_Static_assert(YAKSA_NUMVERSION == 400300 && YAKSA_INFO_MAX_KEYLEN == 256, "");
_Static_assert(YAKSA_ERR__OUT_OF_MEM == 1 && YAKSA_ERR__INTERNAL == 2 &&
                   YAKSA_ERR__NOT_SUPPORTED == 3,
               "");

int main(void) {
    int matrix[4][4], column[4];
    yaksa_type_t type = types[0];
    yaksa_info_t info = NULL;
    yaksa_request_t request = YAKSA_REQUEST__NULL;
    uintptr_t bytes = 0;
    int failed = 0;
    for (int i = 0; i < 16; ++i) matrix[i / 4][i % 4] = i;
    failed |= yaksa_info_create(&info);
    failed |= yaksa_info_keyval_append(info, "yaksa_gpu_driver", "nogpu", 6);
    failed |= yaksa_init(info);
    failed |= yaksa_type_create_vector(4, 1, 4, YAKSA_TYPE__INT, NULL, &type);
    failed |= yaksa_ipack(&matrix[0][1], 1, type, 0, column, sizeof column, &bytes, info,
                          YAKSA_OP__REPLACE, &request);
    failed |= yaksa_request_wait(request);
    failed |= yaksa_type_free(type);
    failed |= yaksa_info_free(info);
    failed |= yaksa_finalize();
    printf("%d, %lu bytes: %d %d %d %d\n", failed, (unsigned long)bytes, column[0], column[1],
           column[2], column[3]);
    return failed != 0 || bytes != sizeof column || column[3] != 13;
}
