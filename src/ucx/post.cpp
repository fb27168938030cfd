#include "post.h"

#include "pipeline.h"

namespace ucd_ucx {

ucp_request_param_t Post::parameters(ucd_ucx_pipeline &pipeline, const Parcel &parcel) {
    pipeline_ = &pipeline;
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                     UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS;
    p.cb.send = on_sent;
    p.user_data = this;
    p.datatype = parcel.datatype;
    p.flags = parcel.flags;
    return p;
}

void Post::on_sent(void *request, ucs_status_t status, void *argument) {
    auto *post = static_cast<Post *>(argument);
    ucp_request_free(request);
    post->status_ = status;
    post->pipeline_->inbox.put(*post);
}

void Post::started(ucd_ucx_pipeline &pipeline, ucs_status_ptr_t request) {
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    happen(pipeline);
}

void Post::send_am(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, const Parcel &parcel) {
    ucp_request_param_t p = parameters(pipeline, parcel);
    const void *data = parcel.data;
    std::size_t count = parcel.count;
    if ((parcel.flags & UCP_AM_SEND_FLAG_EAGER) != 0 && p.datatype == ucp_dt_make_contig(1)) {
        // As a list of one segment: short messages that have contiguous data, a header and the
        // reply flag smash the stack in UCX 1.13 with UCX_PROTO_ENABLE=y.
        segment_ = {const_cast<void *>(data), count};
        p.datatype = ucp_dt_make_iov();
        data = &segment_;
        count = 1;
    }
    started(pipeline, ucp_am_send_nbx(ep, pipeline.params.am_id, parcel.header, parcel.header_bytes,
                                      data, count, &p));
}

void Post::send_tagged(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucp_tag_t tag,
                       const Parcel &parcel) {
    ucp_request_param_t p = parameters(pipeline, parcel);
    p.op_attr_mask &= ~static_cast<uint32_t>(UCP_OP_ATTR_FIELD_FLAGS);
    started(pipeline, ucp_tag_send_nbx(ep, parcel.data, parcel.count, tag, &p));
}

} // namespace ucd_ucx
