#include "engine/send_op.h"

#include "engine/engine.h"
#include "engine/ucx_version.h"

#include <cstdlib>
#include <cstring>

namespace ucd_ucx {
namespace {

// Two faults of UCX 1.13, which 1.14 does not have. With UCX_PROTO_ENABLE=y it omits the reply
// header when it compares the length of contiguous data with the transport's limit for short
// messages. It then refuses messages that are too long, at once or when they have waited for their
// endpoint; or, if they have a header, overruns the stack. A list of one segment takes another code
// path. And it has no rendezvous for active messages that are not contiguous.
bool environment_enables_protocols() {
    const char *enabled = std::getenv("UCX_PROTO_ENABLE");
    if (enabled == nullptr || *enabled == '\0') return false;
    return std::strchr("yY1", *enabled) != nullptr || std::strcmp(enabled, "on") == 0;
}

} // namespace

bool may_send_generic_by_rendezvous() {
    static const bool may = !is_ucx_1_13() || !environment_enables_protocols();
    return may;
}

ucp_request_param_t SendOp::parameters(ucp_datatype_t datatype) {
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    p.cb.send = on_sent;
    p.user_data = this;
    p.datatype = datatype;
    return p;
}

void SendOp::on_sent(void *request, ucs_status_t status, void *argument) {
    auto *send_op = static_cast<SendOp *>(argument);
    ucp_request_free(request);
    send_op->status_ = status;
    send_op->engine_.events.put(*send_op);
}

void SendOp::started(ucs_status_t status) {
    if (status == UCS_INPROGRESS) return;
    status_ = status;
    on_complete();
}

ucs_status_t SendOp::start_am(ucp_ep_h ep, ucp_send_am_flags protocol, const SendArgs &args) {
    ucp_request_param_t p = parameters(args.datatype);
    p.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    p.flags = static_cast<uint32_t>(protocol) | UCP_AM_SEND_FLAG_REPLY;
    const auto send = [&](const void *data, std::size_t count) {
        return ucp_am_send_nbx(ep, engine_.am_id(), args.header, args.header_bytes, data, count,
                               &p);
    };
    const auto send_as_list = [&] {
        segment_ = {const_cast<void *>(args.data), args.count};
        p.datatype = ucp_dt_make_iov();
        return send(&segment_, 1);
    };
    static const bool enabled = environment_enables_protocols();
    const bool may_be_refused = is_ucx_1_13() && protocol == UCP_AM_SEND_FLAG_EAGER &&
                                args.datatype == ucp_dt_make_contig(1);
    // A program can also choose these protocols by ucp_config_modify, which nothing tells. With a
    // header it would be too late to notice.
    const bool as_list = may_be_refused && (enabled || args.header_bytes > 0);
    ucs_status_ptr_t request = as_list ? send_as_list() : send(args.data, args.count);
    if (may_be_refused && !as_list && UCS_PTR_STATUS(request) == UCS_ERR_INVALID_PARAM)
        request = send_as_list();
    return UCS_PTR_IS_PTR(request) ? UCS_INPROGRESS : UCS_PTR_STATUS(request);
}

void SendOp::send_am(ucp_ep_h ep, ucp_send_am_flags protocol, const SendArgs &args) {
    started(start_am(ep, protocol, args));
}

void SendOp::send_tagged(ucp_ep_h ep, ucp_tag_t tag, const SendArgs &args) {
    const ucp_request_param_t p = parameters(args.datatype);
    const ucs_status_ptr_t request = ucp_tag_send_nbx(ep, args.data, args.count, tag, &p);
    started(UCS_PTR_IS_PTR(request) ? UCS_INPROGRESS : UCS_PTR_STATUS(request));
}

} // namespace ucd_ucx
