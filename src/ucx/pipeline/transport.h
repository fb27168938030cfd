// How transfers of host memory are sent, by what UCX expects of the endpoint.
#pragma once

#include "datatype/options.h"

#include <cstddef>
#include <cstdint>
#include <ucp/api/ucp.h>

namespace ucd_ucx {

enum class Transport : uint8_t {
    shared_memory,
    network,
    slow_network, // less than 5 GB/s, as TCP has
};

// A row of the table. docs/guide/ucx.md has the measurements.
struct TransportRow {
    uint64_t tagged;  // tagged messages of at most this size are one UCP call
    uint64_t packed;  // such messages of at least this size are packed before UCX gets them
    uint64_t chunk;   // the size of a chunk
    bool is_streamed; // UCX packs and unpacks chunks while it moves them, fragment by fragment
};
inline constexpr TransportRow transport_rows[] = {
    {512 << 10, UINT64_MAX, 4 << 20, true},   // shared_memory
    {64 << 10, UINT64_MAX, 512 << 10, false}, // network
    {512 << 10, 8 << 10, 512 << 10, false},   // slow_network
};

inline constexpr const TransportRow &usual_transport =
    transport_rows[static_cast<std::size_t>(Transport::network)];

// performance only: it chooses how a message is sent, and not its content
const TransportRow &row_for(ucp_ep_h ep, Packing packing);

} // namespace ucd_ucx
