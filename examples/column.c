#include <stdio.h>
#include <ucd.h>

int main(void) {
    double matrix[3][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}}, packed[3];
    ucd_type_t column; /* 3 blocks of one double, 4 doubles apart */
    uintptr_t bytes;
    if (ucd_init(NULL) || ucd_create_vector(3, 1, 4, UCD_TYPE__DOUBLE, NULL, &column) ||
        ucd_pack(&matrix[0][2], 1, column, 0, packed, sizeof packed, &bytes, NULL, UCD_OP__REPLACE))
        return fprintf(stderr, "%s\n", ucd_last_error()), 1;
    printf("%zu bytes: %g %g %g\n", (size_t)bytes, packed[0], packed[1], packed[2]);
    return ucd_free(&column) || ucd_finalize();
}
