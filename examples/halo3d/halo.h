/* The exchange of faces: packed, sent, received and unpacked in pieces, all at the same time. */
#ifndef HALO3D_HALO_H
#define HALO3D_HALO_H

#include "face.h"
#include "stats.h"
#include "trace.h"
#include "wire.h"

/* A part of a face's packed bytes. Sender and receiver cut a face into the same pieces. */
struct piece {
    int face, number; /* number within the face */
    size_t offset, bytes;
};

enum slot_state { SLOT_FREE, SLOT_PACKING, SLOT_ON_WIRE };

/* One place in the window: a piece that is being packed or sent. */
struct slot {
    struct wire_operation operation; /* its argument is this slot */
    struct halo *halo;
    enum slot_state state;
    struct piece piece;
    unsigned char *buffer; /* for packed bytes */
    ucp_dt_iov_t *iov;     /* for segments */
    ucd_request_t packing;
    uint64_t pack_start_ns;
};

/* One incoming piece: its receive is posted an iteration ahead, always to the same buffer. */
struct incoming {
    struct wire_operation operation; /* its argument is this incoming piece */
    struct halo *halo;
    struct piece piece;
    unsigned char *buffer;
    int iteration; /* that the receive is for */
    ucd_request_t unpacking;
    uint64_t unpack_start_ns;
    struct incoming *next; /* in one of the halo's lists */
};

struct incoming_list {
    struct incoming *first, **end;
};

struct halo {
    struct wire *wire;
    struct stats *stats;
    struct trace *trace;
    struct face faces[FACES];
    int iterations;      /* in all */
    const char *timeout; /* seconds without a piece sent or received, after which it fails */
    uint64_t timeout_ns; /* the same; 0 is never */

    struct piece *pieces; /* of all faces */
    int piece_count;
    struct slot *slots;
    int slot_count, slots_in_use, on_wire;
    struct incoming *incoming; /* as many as pieces */
    struct incoming_list
        arrived[2]; /* by the iteration's lowest bit: a neighbour may be one ahead */
    struct incoming_list unpacking;
    unsigned char *buffers; /* of all slots and incoming pieces */
    ucp_dt_iov_t *iovs;     /* of all slots */
    size_t iov_room;        /* per slot */

    double *field; /* of this exchange: */
    int iteration;
    int next_piece;    /* to be sent */
    int missing;       /* incoming pieces that are not unpacked yet */
    int newest[FACES]; /* the highest piece received, to see which came out of order */
};

/* Makes the types, and posts the receives of the first exchange. All processes call it. */
bool halo_make(struct halo *halo, struct wire *wire, const struct grid *grid, int rank,
               const struct options *options, struct stats *stats, struct trace *trace);

/* Exchange number iteration, counted from 0: sends the outermost layers of the field's block and
 * fills its ghost layers. The field must not be written to meanwhile. */
bool halo_exchange(struct halo *halo, double *field, int iteration);

/* Only when every exchange was made. */
void halo_free(struct halo *halo);

#endif
