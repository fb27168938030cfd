#include "pipeline/send_op.h"

#include "pipeline/pipeline.h"

namespace ucd_ucx {

ucp_request_param_t SendOp::parameters(ucd_ucx_pipeline &pipeline, const SendArgs &args) {
    pipeline_ = &pipeline;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    p.cb.send = on_sent;
    p.user_data = this;
    p.datatype = args.datatype;
    return p;
}

void SendOp::on_sent(void *request, ucs_status_t status, void *argument) {
    auto *send_op = static_cast<SendOp *>(argument);
    ucp_request_free(request);
    send_op->status_ = status;
    send_op->pipeline_->events.put(*send_op);
}

void SendOp::started(ucd_ucx_pipeline &pipeline, ucs_status_ptr_t request) {
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    on_complete(pipeline);
}

void SendOp::send_am(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucp_send_am_flags protocol,
                     const SendArgs &args) {
    ucp_request_param_t p = parameters(pipeline, args);
    p.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    p.flags = static_cast<uint32_t>(protocol) | UCP_AM_SEND_FLAG_REPLY;
    const void *data = args.data;
    std::size_t count = args.count;
    if (protocol == UCP_AM_SEND_FLAG_EAGER && p.datatype == ucp_dt_make_contig(1)) {
        // Passed as a list of one segment: UCX 1.13 with UCX_PROTO_ENABLE=y overruns the stack for
        // short messages with contiguous data, a header and the reply flag.
        segment_ = {const_cast<void *>(data), count};
        p.datatype = ucp_dt_make_iov();
        data = &segment_;
        count = 1;
    }
    started(pipeline, ucp_am_send_nbx(ep, pipeline.params.am_id, args.header, args.header_bytes,
                                      data, count, &p));
}

void SendOp::send_tagged(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucp_tag_t tag,
                         const SendArgs &args) {
    const ucp_request_param_t p = parameters(pipeline, args);
    started(pipeline, ucp_tag_send_nbx(ep, args.data, args.count, tag, &p));
}

} // namespace ucd_ucx
