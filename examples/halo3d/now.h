/* The clock of all measurements and of the trace. It is the same for all processes of a machine. */
#ifndef HALO3D_NOW_H
#define HALO3D_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail for this clock */
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

#endif
