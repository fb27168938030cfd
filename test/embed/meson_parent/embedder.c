/* A library that uses UCD for itself. */
#include <ucd.h>

int embedder_column(const double *matrix, double *column);

/* Packs the second column of a matrix of 3 x 4. */
int embedder_column(const double *matrix, double *column) {
    ucd_type_t type = UCD_TYPE__NULL;
    uintptr_t bytes = 0;
    int rc = ucd_init(UCD_INFO__NULL);
    if (rc != UCD_SUCCESS) return rc;
    rc = ucd_create_vector(3, 1, 4, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type);
    if (rc == UCD_SUCCESS)
        rc = ucd_pack(matrix + 1, 1, type, 0, column, 3 * sizeof *column, &bytes, UCD_INFO__NULL, UCD_OP__REPLACE);
    ucd_free(&type);
    ucd_finalize();
    return rc;
}
