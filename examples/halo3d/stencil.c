#include "stencil.h"

/* Both forms of a step compute a cell by this, so that they give the same bits; the build forbids
 * the compiler to fuse multiplications and additions in one of them (-ffp-contract=off). */
static inline double cell(double centre, double x0, double x1, double y0, double y1, double z0,
                          double z1) {
    return centre + 0.125 * (x0 + x1 + y0 + y1 + z0 + z1 - 6.0 * centre);
}

void stencil_block(const intptr_t size[3], const double *from, double *to) {
    const intptr_t row = size[2] + 2, plane = row * (size[1] + 2);
    for (intptr_t x = 1; x <= size[0]; x++)
        for (intptr_t y = 1; y <= size[1]; y++) {
            const double *restrict c = from + x * plane + y * row;
            double *restrict result = to + x * plane + y * row;
            for (intptr_t z = 1; z <= size[2]; z++)
                result[z] = cell(c[z], c[z - plane], c[z + plane], c[z - row], c[z + row], c[z - 1],
                                 c[z + 1]);
        }
}

static intptr_t before(intptr_t i, intptr_t n) {
    return i == 0 ? n - 1 : i - 1;
}
static intptr_t after(intptr_t i, intptr_t n) {
    return i == n - 1 ? 0 : i + 1;
}

void stencil_periodic(const intptr_t shape[3], const double *from, double *to) {
    const intptr_t row = shape[2], plane = row * shape[1];
    for (intptr_t x = 0; x < shape[0]; x++)
        for (intptr_t y = 0; y < shape[1]; y++) {
            const double *restrict c = from + x * plane + y * row;
            const double *restrict x0 = from + before(x, shape[0]) * plane + y * row;
            const double *restrict x1 = from + after(x, shape[0]) * plane + y * row;
            const double *restrict y0 = from + x * plane + before(y, shape[1]) * row;
            const double *restrict y1 = from + x * plane + after(y, shape[1]) * row;
            double *restrict result = to + x * plane + y * row;
            for (intptr_t z = 0; z < row; z++)
                result[z] =
                    cell(c[z], x0[z], x1[z], y0[z], y1[z], c[before(z, row)], c[after(z, row)]);
        }
}
