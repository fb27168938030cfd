/* The command line. */
#ifndef HALO3D_OPTIONS_H
#define HALO3D_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct options {
    int rank, processes;
    const char *team;  /* the file by which the processes find each other */
    intptr_t shape[3]; /* of the field */
    int grid[3];       /* 0 0 0: to be chosen */
    int steps;
    size_t piece_bytes;   /* 0: as libucd-ucx chooses */
    const char *memory;   /* NULL: of the host; else the name of a device */
    int patience_seconds; /* how long other processes are waited for at most */
    const char *field;
};

/* Ends the process if the command line is wrong, or asks for help. */
struct options options_parse(int argc, char **argv);

#endif
