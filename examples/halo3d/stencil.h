/* One time step of the heat equation: the seven-point stencil. */
#ifndef HALO3D_STENCIL_H
#define HALO3D_STENCIL_H

#include <stdint.h>

/* A step on a block of size cells that lies in an array with one layer of ghost cells around it. */
void stencil_block(const intptr_t size[3], const double *from, double *to);

/* A step on a whole periodic field, without ghost cells: what the processes' result is compared
 * with. */
void stencil_periodic(const intptr_t shape[3], const double *from, double *to);

#endif
