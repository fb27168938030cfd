/* A process in UCX: its worker, its endpoints to the other processes, and libucd-ucx's object over
 * the worker. */
#ifndef HALO3D_WIRE_H
#define HALO3D_WIRE_H

#include "options.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <ucd_ucx.h>

struct wire {
    struct team *team; /* what the processes share */
    int rank, processes, patience_seconds;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h *endpoints; /* by rank; NULL until wire_connect */
    ucd_ucx_t object;
    bool closing; /* others may close their endpoints from now on */
};

/* The clock of all measurements. */
static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Makes the worker, and finds the other processes by the team's file. All processes call it. */
void wire_open(struct wire *wire, const struct options *options);

/* Makes it possible to send to a process, which may be this one. */
void wire_connect(struct wire *wire, int rank);

/* Makes progress, on behalf of something that this process has waited for since then; ends the
 * process if that was too long ago: UCX may never tell that another one has died. */
void wire_progress(struct wire *wire, uint64_t since_ns);

/* Waits until all processes are connected, and have called it: a message then finds its receiver's
 * object there, and UCX watches whether the other process lives, as it does not before. */
void wire_ready(struct wire *wire);

/* Waits until all processes have called it. */
void wire_barrier(struct wire *wire);

/* Ends it, once all processes have called it. No transfer may be on its way. */
void wire_close(struct wire *wire);

#endif
