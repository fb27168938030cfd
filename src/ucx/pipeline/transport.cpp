#include "pipeline/transport.h"

#include "engine/send_op.h"

#include <cstddef>

namespace ucd_ucx {
namespace {

// In seconds; negative if UCX does not know.
double estimated_time(ucp_ep_h ep, std::size_t bytes) {
    ucp_ep_evaluate_perf_param_t param = {};
    param.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
    param.message_size = bytes;
    ucp_ep_evaluate_perf_attr_t attributes = {};
    attributes.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME;
    return ucp_ep_evaluate_perf(ep, &param, &attributes) == UCS_OK ? attributes.estimated_time : -1;
}

// UCX names no transport of an endpoint before version 1.14. It estimates a latency of 80 ns for
// shared memory, and of at least 600 ns for a network.
Transport transport_of(ucp_ep_h ep) {
    constexpr double bytes = 1 << 20, slow = 5e9, max_latency = 0.3e-6;
    const double latency = estimated_time(ep, 0), time = estimated_time(ep, 1 << 20);
    if (time * slow > bytes) return Transport::slow_network;
    return latency >= 0 && latency < max_latency ? Transport::shared_memory : Transport::network;
}

} // namespace

const TransportRow &row_for(ucp_ep_h ep, Packing packing) {
    if (!may_send_generic_by_rendezvous()) packing = Packing::chunks;
    Transport transport = packing == Packing::ucx ? Transport::shared_memory : transport_of(ep);
    if (packing == Packing::chunks && transport == Transport::shared_memory)
        transport = Transport::network;
    return transport_rows[static_cast<std::size_t>(transport)];
}

} // namespace ucd_ucx
