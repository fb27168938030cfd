/* The exchange of faces by libucd-ucx: a transfer for each face, which cuts it into chunks, packs
 * and unpacks them. What halo.c does by hand. */
#ifndef HALO3D_FLOW_H
#define HALO3D_FLOW_H

#include "face.h"
#include "stats.h"
#include "trace.h"
#include "wire.h"

#include <ucd_ucx.h>

struct flow {
    struct wire *wire;
    struct stats *stats;
    struct trace *trace;
    struct face faces[FACES];
    ucd_ucx_t pipeline;
    size_t chunk_bytes;
    int outstanding;     /* transfers */
    int on_wire;         /* chunks */
    ucs_status_t status; /* of the first transfer that failed */
};

/* All processes call it. */
bool flow_make(struct flow *flow, struct wire *wire, const struct grid *grid, int rank,
               const struct options *options, struct stats *stats, struct trace *trace);

/* As halo_exchange. */
bool flow_exchange(struct flow *flow, double *field, int iteration);

/* Before the wire is closed. */
bool flow_free(struct flow *flow);

#endif
