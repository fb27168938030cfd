// A message that is being sent. The event says that UCX has sent it.
#pragma once

#include "common/event_queue.h"
#include "common/failure.h"
#include "pipeline/message.h"

namespace ucd_ucx {

// The arguments of a send. What they point to must stay valid until the event.
struct SendArgs {
    const void *header = nullptr; // for active messages
    std::size_t header_bytes = 0;
    const void *data = nullptr;
    std::size_t count = 0;
    ucp_datatype_t datatype = ucp_dt_make_contig(1);
};

class SendOp : public Event {
public:
    // Each starts a send. on_complete is called when UCX is done, which may be before the function
    // returns. `protocol` is UCP_AM_SEND_FLAG_EAGER or UCP_AM_SEND_FLAG_RNDV.
    void send_am(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucp_send_am_flags protocol,
                 const SendArgs &args);
    void send_tagged(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucp_tag_t tag, const SendArgs &args);

protected:
    ~SendOp() = default;
    ucs_status_t status_ = UCS_OK;

private:
    ucp_request_param_t parameters(ucd_ucx_pipeline &pipeline, const SendArgs &args);
    void started(ucd_ucx_pipeline &pipeline, ucs_status_ptr_t request);
    static void on_sent(void *request, ucs_status_t status, void *send_op);
    ucd_ucx_pipeline *pipeline_ = nullptr;
    ucp_dt_iov_t segment_ = {};
};

} // namespace ucd_ucx
