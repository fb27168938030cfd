// A message that is being sent. The event says that UCX has sent it.
#pragma once

#include "common/failure.h"
#include "engine/event_queue.h"

#include <cstddef>

namespace ucd_ucx {

class WorkerEngine;

// The arguments of a send. What they point to must stay valid until the event.
struct SendArgs {
    const void *header = nullptr; // for active messages
    std::size_t header_bytes = 0;
    const void *data = nullptr;
    std::size_t count = 0;
    ucp_datatype_t datatype = ucp_dt_make_contig(1);
};

// UCX 1.13 with UCX_PROTO_ENABLE=y aborts if an active message of a generic datatype is to go by
// rendezvous. Later versions send it, with these protocols and without.
bool may_send_generic_by_rendezvous();

class SendOp : public Event {
public:
    // Each starts a send. on_complete is called when UCX is done, which may be before the function
    // returns. `protocol` is UCP_AM_SEND_FLAG_EAGER or UCP_AM_SEND_FLAG_RNDV.
    void send_am(ucp_ep_h ep, ucp_send_am_flags protocol, const SendArgs &args);
    void send_tagged(ucp_ep_h ep, ucp_tag_t tag, const SendArgs &args);

protected:
    explicit SendOp(WorkerEngine &engine) : engine_(engine) {}
    ~SendOp() = default;
    // Same as send_am, but returns the status if UCX is done when it returns: on_complete is then
    // not called. UCS_INPROGRESS: on_complete will be called.
    ucs_status_t start_am(ucp_ep_h ep, ucp_send_am_flags protocol, const SendArgs &args);

    WorkerEngine &engine_;
    ucs_status_t status_ = UCS_OK;

private:
    ucp_request_param_t parameters(ucp_datatype_t datatype);
    void started(ucs_status_t status);
    static void on_sent(void *request, ucs_status_t status, void *send_op);
    ucp_dt_iov_t segment_ = {};
};

} // namespace ucd_ucx
