// A message given to UCX, as an event: it was sent.
#pragma once

#include "event.h"
#include "failure.h"
#include "message.h"

namespace ucd_ucx {

// What UCX is given to send; all of it stays until the event.
struct Parcel {
    const void *header = nullptr; // of an active message
    std::size_t header_bytes = 0;
    const void *data = nullptr;
    std::size_t count = 0;
    ucp_datatype_t datatype = ucp_dt_make_contig(1);
    unsigned flags = 0; // of an active message
};

class Post : public Event {
public:
    // Each sends, and lets the event happen: at once if UCX is done at once.
    void send_am(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, const Parcel &parcel);
    void send_tagged(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucp_tag_t tag, const Parcel &parcel);

protected:
    ~Post() = default;
    ucs_status_t status_ = UCS_OK;

private:
    ucp_request_param_t parameters(ucd_ucx_pipeline &pipeline, const Parcel &parcel);
    void started(ucd_ucx_pipeline &pipeline, ucs_status_ptr_t request);
    static void on_sent(void *request, ucs_status_t status, void *post);
    ucd_ucx_pipeline *pipeline_ = nullptr;
    ucp_dt_iov_t segment_ = {};
};

} // namespace ucd_ucx
