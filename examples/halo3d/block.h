/* The block of the field that a process owns, and its six faces, as types of the array that holds
 * the block within one layer of ghost cells. */
#ifndef HALO3D_BLOCK_H
#define HALO3D_BLOCK_H

#include "grid.h"

#include <ucd.h>

struct face {
    int neighbour; /* the process behind it */
    uintptr_t bytes;
    ucd_type_t send;    /* the outermost layer of cells */
    ucd_type_t receive; /* the ghost layer next to it: the neighbour's outermost layer goes there */
};

struct block {
    intptr_t size[AXES], array[AXES]; /* in cells; without and with the ghost layers */
    ucd_type_t in_array, in_field;    /* the block's own cells there */
    struct face faces[FACES];
};

void block_make(const struct grid *grid, int rank, struct block *block);
void block_free(struct block *block);

/* Prints what each face looks like in memory. */
void block_print_faces(const struct block *block);

#endif
