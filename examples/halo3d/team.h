/* The processes of a run: memory that they share, made before they are forked, through which they
 * find each other, wait for each other, and report to the process that started them. */
#ifndef HALO3D_TEAM_H
#define HALO3D_TEAM_H

#include "stats.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { TEAM_ADDRESS_BYTES = 16384 };

struct team_member {
    atomic_int steps; /* done so far */
    struct stats stats;
    size_t address_bytes;
    unsigned char address[TEAM_ADDRESS_BYTES]; /* UCX's, of this process's worker */
};

struct team {
    int size;
    atomic_int waiting;  /* processes in the barrier */
    atomic_int barriers; /* barriers passed */
    struct team_member members[];
};

struct team *team_make(int size);
void team_free(struct team *team);

/* Returns when all processes have called it; makes progress meanwhile: without it, a process that
 * is waited for might never get there. Does not give up: the starter ends all if one fails. */
void team_barrier(struct team *team, void (*progress)(void *), void *argument);

/* Starts size processes, each of which ends with the status that body returns, and calls watch now
 * and then until they have ended. False if one failed, was killed, or the time was up; then the
 * others have been ended as well, once they had some patience_seconds to notice it themselves. */
bool team_run(struct team *team, int (*body)(int rank, void *argument), void *argument,
              void (*watch)(void *watched), void *watched, int timeout_seconds,
              int patience_seconds);

#endif
