/* What each process of the team does: its block of the field, from reading to writing it. */
#ifndef HALO3D_PROCESS_H
#define HALO3D_PROCESS_H

#include "grid.h"
#include "npy.h"
#include "options.h"
#include "team.h"

#include <stdio.h>

struct run {
    struct options options;
    struct grid grid;
    struct npy input, output;
    struct team *team;
    FILE *trace; /* NULL: none */
};

/* The exit status of process number rank; argument is the struct run. */
int process_main(int rank, void *argument);

#endif
