/* The exchange of faces by libucd-ucx: a transfer for each face and direction. The library cuts it
 * into pieces, and packs and unpacks some while others are on their way. */
#ifndef HALO3D_EXCHANGE_H
#define HALO3D_EXCHANGE_H

#include "block.h"
#include "wire.h"

#include <stddef.h>

struct exchange {
    const struct block *block;
    struct wire *wire;
    int outstanding; /* transfers */
    int on_wire;     /* pieces */
    struct {
        uint64_t sent, packed;
        uint64_t overlapped; /* packed while another was on the wire */
    } pieces;
};

/* Connects the process with its neighbours. All processes call it. piece_bytes is 0 if the library
 * is to choose. */
void exchange_open(struct exchange *exchange, struct wire *wire, const struct block *block,
                   size_t piece_bytes);

/* Sends the outermost layers of the block and fills its ghost layers. */
void exchange_faces(struct exchange *exchange, double *cells, int step);

#endif
