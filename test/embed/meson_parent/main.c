#include <stdio.h>

int embedder_column(const double *matrix, double *column);

int main(void) {
    const double matrix[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    double column[3] = {0};
    const int rc = embedder_column(matrix, column);
    printf("%d: %g %g %g\n", rc, column[0], column[1], column[2]);
    return rc;
}
