/* The six faces of a block, as types of the array that holds the block and its ghost cells. */
#ifndef HALO3D_FACE_H
#define HALO3D_FACE_H

#include "grid.h"
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <ucd.h>

struct face {
    ucd_type_t send;    /* the outermost layer of cells */
    ucd_type_t receive; /* the ghost layer next to it: the neighbour's outermost layer goes there */
    ucd_layout_t layout; /* of send */
    enum method method;  /* how it is sent */
    int neighbour;       /* rank of the process behind it */
    size_t bytes;
};

/* The array that holds a block: one ghost layer around it. */
static inline intptr_t with_ghosts(intptr_t cells) {
    return cells + 2;
}

/* The block's own cells as a type of that array. */
bool interior_type(const struct block *block, ucd_type_t *type);

bool faces_make(const struct grid *grid, int rank, const struct options *options,
                struct face faces[FACES]);
void faces_free(struct face faces[FACES]);

/* Shows what each face looks like in memory and what follows from it. */
void faces_print(FILE *file, const struct face faces[FACES], const struct options *options);

#endif
