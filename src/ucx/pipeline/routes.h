// Which way a transfer goes: the one place that decides it, by measurement.
#pragma once

#include "datatype/typed_buffer.h"

#include <cstdint>
#include <ucp/api/ucp.h>

namespace ucd_ucx {

// How the data of a transfer moves.
enum class TransferRoute : uint8_t {
    whole,    // in one UCP message
    pieces,   // in chunks that this library packs, or sends from where they are if contiguous
    streamed, // in chunks that UCX packs and unpacks while it moves them, fragment by fragment
    ring,     // in chunks in device memory that the receiver opens (docs/guide/ucx-ways.md)
    direct,   // by the receiver, which reads the layout where it is (docs/guide/ucx-ways.md)
};

constexpr unsigned bit_of(TransferRoute route) {
    return 1U << static_cast<unsigned>(route);
}

// By what the data can reach the receiver.
enum class Transport : uint8_t {
    shared_memory, // where UCX may pack: host memory in several segments, of users' transfers
    network,       // and other data of host memory over shared memory
    slow_network,  // less than 5 GB/s, as TCP has
    mapped,        // host memory that a receiver on this machine can map
    device,        // memory of a device
};

// A row of the table in routes.cpp. It suits messages of `from` to `to` bytes that meet the terms.
struct RouteTerms {
    uint64_t run = 0;            // the least mean length of the segments
    uint64_t range = UINT64_MAX; // from the first byte to the end of the last, at most
    bool regular = false;        // TypedBuffer::is_regular
    unsigned share = 0;          // of what a device reads, so much is data at least, in percent
    uint64_t chunk = 0;          // bytes of a chunk of host memory
    uint64_t depth = TransferOptions::usual_depth; // chunks that are under way at a time
    bool packed = false;                           // a whole message is packed before UCX gets it
};
inline constexpr uint64_t max_usual_depth = 16; // of the table
struct RouteRow {
    Transport transport;
    TransferRoute route;
    uint64_t from, to;
    RouteTerms terms = {};
};

// The first of the transport's rows that suits the message and whose route is in the set
// `possible`. Null if there is none.
const RouteRow *find_row(Transport transport, unsigned possible, const TypedBuffer &buffer,
                         const TransferOptions &options, bool is_tagged);

// Messages up to this size are whole, whatever else is possible.
uint64_t direct_limit(const TransferOptions &options, const BufferHints &hints);

// Which of the rows for host memory are those of the endpoint. `by_ucx`: UCX may pack the data.
Transport host_transport(ucp_ep_h ep, const TransferOptions &options, bool by_ucx);

// At the receiver, which alone knows both memories: whether it reads device memory where it is.
bool takes_direct(const TypedBuffer &to, const TransferOptions &options);

} // namespace ucd_ucx
