/* What a process measures: how long each step's work took, and how the pieces went. */
#ifndef HALO3D_STATS_H
#define HALO3D_STATS_H

#include <stdint.h>

enum measure {
    MEASURE_PACK_X, /* faces normal to the axis x; y and z follow */
    MEASURE_PACK_Y,
    MEASURE_PACK_Z,
    MEASURE_PACK, /* all faces */
    MEASURE_UNPACK_X,
    MEASURE_UNPACK_Y,
    MEASURE_UNPACK_Z,
    MEASURE_UNPACK,
    MEASURE_MEMCPY,   /* of as many bytes, in pieces of the same size */
    MEASURE_EXCHANGE, /* bytes sent; time until they are there and all ghosts too */
    MEASURE_BUSY,     /* the same without the time in which there was nothing to do but wait */
    MEASURE_STENCIL,
    MEASURES
};

struct amount {
    uint64_t bytes, ns;
};

struct pieces {
    uint64_t sent, packed;
    uint64_t overlapped;   /* packed while another was on the wire */
    uint64_t out_of_order; /* received after one that comes later in the face */
};

enum { STATS_STEPS = 1024 };

struct stats {
    struct amount step[MEASURES];               /* of the step that is being made */
    struct amount steps[STATS_STEPS][MEASURES]; /* of the last ones: step i is at i % STATS_STEPS */
    struct pieces pieces;
};

static inline void stats_add(struct stats *stats, int measure, uint64_t bytes, uint64_t ns) {
    stats->step[measure].bytes += bytes;
    stats->step[measure].ns += ns;
}

/* Files the measurements of a step, counted from 0. */
static inline void stats_end_step(struct stats *stats, int step) {
    for (int measure = 0; measure < MEASURES; measure++) {
        stats->steps[step % STATS_STEPS][measure] = stats->step[measure];
        stats->step[measure] = (struct amount){0};
    }
}

#endif
