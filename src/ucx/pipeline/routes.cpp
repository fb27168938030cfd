#include "pipeline/routes.h"

#include "engine/send_op.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace ucd_ucx {
namespace {

// UCX stores an active message at the receiver, but leaves a long tagged one at the sender. So
// active messages are whole up to this size only, and no shorter data of hosts is offered to be
// read.
constexpr uint64_t max_whole = 64 << 10;
// For so little, the ring does not repay the round trip that negotiates it: at about 40 KiB both
// ways are equally fast (docs/measurements/findings.md).
constexpr uint64_t max_beside_ring = 32 << 10;

// A message takes the first row of its transport that suits it and is possible. If the receiver
// declines that, it takes the next one. Host memory that can be mapped also has the rows of the
// transport by which it goes otherwise. The keys ucd.ucx.eager, ucd.ucx.direct_bytes and
// ucd.ucx.chunk take the place of the limit of `whole`, of `from` of `direct`, and of `chunk`.
std::span<const RouteRow> table() {
    using enum Transport;
    using enum TransferRoute;
    constexpr uint64_t KiB = 1 << 10, MiB = 1 << 20, any = UINT64_MAX;
    static constexpr RouteRow rows[] = {
        // Measured: "Transfers over UCX" of docs/measurements/findings.md.
        {shared_memory, whole, 0, 512 * KiB},
        {shared_memory, streamed, 0, any, {.chunk = 4 * MiB}},
        {network, whole, 0, max_whole},
        {network, pieces, 0, any, {.chunk = 512 * KiB}},
        // Where UCX copies, it sends contiguous data in larger fragments than it packs.
        {slow_network, whole, 8 * KiB, 512 * KiB, {.packed = true}},
        {slow_network, whole, 0, 512 * KiB},
        // Beside other work on the processors, each chunk waits for a time slice of its peer: with
        // 4 chunks under way, 16 and 64 MiB took up to twice as long as packing all first, and
        // with 16 about as long. On free processors both are equal. ("Over a link" of
        // docs/measurements/findings.md.)
        {slow_network, pieces, 0, any, {.chunk = 512 * KiB, .depth = max_usual_depth}},
        // Measured: docs/measurements/data/ucx-mapped-rates.csv.
        {mapped, direct, 256 * KiB, any, {.run = 2 * KiB}},
        {mapped, direct, 1 * MiB, any, {.run = 256}},
        {mapped, direct, 16 * MiB, any},
        // No lists: to move these, the kernel has to find which parts of both lists meet, for each
        // transfer again. Short rows that lie far apart cost the link more than packing does.
        // A device reads whole sectors, so the link carries the gaps of short rows, too: two H200
        // over NVLink had 0.6 of the speed of contiguous bytes where two thirds were data. The ring
        // has 0.65 up to 4 MiB, 0.8 at 16 MiB, and 0.9 from 64 MiB on.
        {device, direct, max_beside_ring + 1, 8 * MiB, {.regular = true, .share = 60}},
        {device, direct, max_beside_ring + 1, 48 * MiB, {.regular = true, .share = 75}},
        {device, direct, max_beside_ring + 1, any, {.regular = true, .share = 84}},
        {device, direct, max_beside_ring + 1, any, {.range = 2 * MiB, .regular = true}},
        // Measured: "Transfers between GPUs" of docs/measurements/findings.md.
        {device, ring, max_beside_ring + 1, any},
        {device, whole, 0, max_whole, {.packed = true}},
        {device, pieces, 0, any, {.chunk = 512 * KiB}},
    };
    return rows;
}

// In seconds; negative if UCX does not know.
double estimated_time(ucp_ep_h ep, std::size_t bytes) {
    ucp_ep_evaluate_perf_param_t param = {};
    param.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
    param.message_size = bytes;
    ucp_ep_evaluate_perf_attr_t attributes = {};
    attributes.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME;
    return ucp_ep_evaluate_perf(ep, &param, &attributes) == UCS_OK ? attributes.estimated_time : -1;
}

// UCX names the transports of an endpoint from version 1.14 on, and so not with the headers
// of 1.13. In all versions it estimates a latency of 80 ns for shared memory, and of at least 600
// ns for a network.
Transport transport_of(ucp_ep_h ep) {
    constexpr double bytes = 1 << 20, slow = 5e9, max_latency = 0.3e-6;
    const double latency = estimated_time(ep, 0), time = estimated_time(ep, 1 << 20);
    if (time * slow > bytes) return Transport::slow_network;
    return latency >= 0 && latency < max_latency ? Transport::shared_memory : Transport::network;
}

// performance only: it chooses how a message is sent, and not its content
bool suits(const RouteRow &row, const TypedBuffer &buffer, const TransferOptions &options,
           bool is_tagged) {
    const uint64_t bytes = buffer.bytes();
    if (row.route == TransferRoute::whole) {
        const uint64_t most = is_tagged ? row.to : std::min(row.to, max_whole);
        return bytes >= row.from && bytes <= options.eager_or(most);
    }
    if (row.route == TransferRoute::ring) return bytes > options.eager_or(row.from - 1);
    if (row.route != TransferRoute::direct) return true;
    if (bytes <= direct_limit(options, buffer.hints())) return false;
    return options.direct == Trust::always ||
           (bytes >= options.direct_or(row.from) && bytes <= row.to &&
            buffer.mean_segment() >= row.terms.run && buffer.range() <= row.terms.range &&
            (buffer.is_regular() || !row.terms.regular) &&
            buffer.share_of_sectors() >= row.terms.share);
}

} // namespace

uint64_t direct_limit(const TransferOptions &options, const BufferHints &hints) {
    // performance only: one message or several have the same result
    const bool may_use_ring = options.ring && !hints.device.empty();
    return options.eager_or(may_use_ring ? max_beside_ring : max_whole);
}

// performance only: it chooses how a message is sent, and not its content
Transport host_transport(ucp_ep_h ep, const TransferOptions &options, bool by_ucx) {
    const bool may_pack =
        by_ucx && options.packing != Packing::chunks && may_send_generic_by_rendezvous();
    if (may_pack && options.packing == Packing::ucx) return Transport::shared_memory;
    const Transport transport = transport_of(ep);
    return may_pack || transport != Transport::shared_memory ? transport : Transport::network;
}

const RouteRow *find_row(Transport transport, unsigned possible, const TypedBuffer &buffer,
                         const TransferOptions &options, bool is_tagged) {
    const std::span<const RouteRow> rows = table();
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const RouteRow &row) {
        return row.transport == transport && (bit_of(row.route) & possible) != 0 &&
               suits(row, buffer, options, is_tagged);
    });
    return found == rows.end() ? nullptr : &*found;
}

bool takes_direct(const TypedBuffer &to, const TransferOptions &options) {
    return options.direct == Trust::always || to.is_regular();
}

} // namespace ucd_ucx
