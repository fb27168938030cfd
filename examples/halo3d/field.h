/* The data: the field's file, and the arrays that hold this process's block of it. */
#ifndef HALO3D_FIELD_H
#define HALO3D_FIELD_H

#include "block.h"

#include <stdbool.h>
#include <stddef.h>

struct field {
    const struct block *block;
    size_t bytes; /* of an array of the block, with ghost cells */
    bool on_device;
    double *cells;    /* the block now: what is exchanged, on the host or on a device */
    double *other;    /* on the host: what the next step is computed in */
    double *on_host;  /* on the host: a copy of cells, if they are on a device */
    double *baseline; /* where cells are; see field_copy */
    double *file;     /* the whole field */
    size_t file_bytes;
};

/* Maps the file and reads the block from it. memory is NULL, or the name of a device. */
void field_open(struct field *field, const struct block *block, const char *path,
                const intptr_t shape[AXES], const char *memory);

/* Computes a step of the heat equation from the block and its ghost cells. */
void field_step(struct field *field);

/* Copies contiguous bytes within the memory of the block: what an exchange is compared with. */
void field_copy(struct field *field, size_t bytes);

/* Writes the block to the file. */
void field_close(struct field *field);

#endif
