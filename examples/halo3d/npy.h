/* 3-D fields of doubles in files of NumPy's format (.npy), mapped into memory. */
#ifndef HALO3D_NPY_H
#define HALO3D_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct npy {
    intptr_t shape[3];
    double *data; /* C order */
    void *mapping;
    size_t mapping_bytes;
};

/* Maps a file for reading: float64, C order, three dimensions, none of them 0. */
bool npy_open(const char *path, struct npy *npy);

/* Makes a file of this shape and maps it; what processes forked later write to data appears in it.
 */
bool npy_create(const char *path, const intptr_t shape[3], struct npy *npy);

/* Unmaps; what was written stays in the file. */
void npy_close(struct npy *npy);

#endif
