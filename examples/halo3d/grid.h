/* How processes divide the field: a grid of blocks, periodic in all three directions. */
#ifndef HALO3D_GRID_H
#define HALO3D_GRID_H

#include <stdint.h>

/* The faces of a block in the order -x +x -y +y -z +z: number 2 * axis + side. */
enum { AXES = 3, FACES = 6 };

struct grid {
    intptr_t shape[AXES]; /* of the field */
    int processes[AXES];
};

/* Divides a field among processes: as wanted, or with the least surface between processes if
 * wanted is 0 0 0. */
struct grid grid_make(const intptr_t shape[AXES], int processes, const int wanted[AXES]);

/* The part of the field that a process owns. */
void grid_block(const struct grid *grid, int rank, intptr_t start[AXES], intptr_t size[AXES]);

/* The process on the other side of a face; it may be rank itself, and the same for two faces. */
int grid_neighbour(const struct grid *grid, int rank, int face);

#endif
