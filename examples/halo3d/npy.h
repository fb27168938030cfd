/* 3-D fields of doubles in files of NumPy's format (.npy), mapped into memory. */
#ifndef HALO3D_NPY_H
#define HALO3D_NPY_H

#include "output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct npy {
    intptr_t shape[3];
    double *data; /* C order */
    void *mapping;
    size_t mapping_bytes;
    struct output output; /* of a file that is made */
};

/* Maps a file for reading: float64, C order, three dimensions, none of them 0. */
bool npy_open(const char *path, struct npy *npy);

/* Makes a file of this shape, beside its place, and maps it; what processes forked later write to
 * data appears in it. */
bool npy_create(const char *path, const intptr_t shape[3], struct npy *npy);

/* The file is complete: it takes its place. */
bool npy_complete(struct npy *npy);

/* Unmaps; a file that was made and is not complete is removed. */
void npy_close(struct npy *npy);

#endif
