/* Calls what a core may be built without, and prints the statuses: reductions, conversions. */
#include <stdio.h>
#include <ucd.h>

int main(void) {
    double in[4] = {1, 2, 3, 4}, out[4] = {10, 20, 30, 40};
    double copied[4];
    float floats[4] = {7, 7, 7, 7};
    uintptr_t bytes;
    ucd_type_t column;
    if (ucd_init(NULL) || ucd_create_vector(2, 1, 2, UCD_TYPE__DOUBLE, NULL, &column)) return 1;
    printf("%d", ucd_pack(in, 4, UCD_TYPE__DOUBLE, 0, out, sizeof out, &bytes, NULL, UCD_OP__SUM));
    printf(" %d", ucd_pack(in, 1, column, 0, out, sizeof out, &bytes, NULL, UCD_OP__MAX));
    printf(" %d", ucd_copy(in, 4, UCD_TYPE__DOUBLE, floats, 4, UCD_TYPE__FLOAT, &bytes, NULL,
                           UCD_OP__CONVERT));
    printf(" %d", ucd_copy(in, 4, UCD_TYPE__DOUBLE, copied, 4, UCD_TYPE__DOUBLE, &bytes, NULL,
                           UCD_OP__CONVERT));
    printf(": %g %g\n", out[0], (double)floats[0]);
    return ucd_free(&column) || ucd_finalize();
}
