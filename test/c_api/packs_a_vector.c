/* Packs three doubles out of every fourth: something for the environment to have an effect on. */
#include <stdio.h>
#include <ucd.h>

int main(void) {
    const double matrix[12] = {0};
    double packed[3];
    ucd_type_t type;
    uintptr_t bytes;
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) fprintf(stderr, "%s\n", ucd_last_error());
    if (ucd_create_vector(3, 1, 4, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type) != UCD_SUCCESS ||
        ucd_pack(matrix, 1, type, 0, packed, sizeof packed, &bytes, UCD_INFO__NULL,
                 UCD_OP__REPLACE) != UCD_SUCCESS ||
        ucd_free(&type) != UCD_SUCCESS || ucd_finalize() != UCD_SUCCESS) {
        fprintf(stderr, "%s\n", ucd_last_error());
        return 1;
    }
    return 0;
}
