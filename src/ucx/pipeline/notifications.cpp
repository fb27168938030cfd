#include "pipeline/notifications.h"

#include "pipeline/recv_message.h"

#include <algorithm>

namespace ucd_ucx {

void Notifications::add_message(RecvMessage &message) {
    messages_.push(message);
}

void Notifications::add_unresponsive(ucp_ep_h ep) {
    if (std::find(unresponsive_.begin(), unresponsive_.end(), ep) == unresponsive_.end())
        unresponsive_.push_back(ep);
}

void Notifications::drop_messages(ucd_ucx_pipeline &pipeline) {
    while (!messages_.empty()) messages_.pop().drop(pipeline);
}

void Notifications::call(const ucd_ucx_pipeline_params_t &params, ucd_ucx_am_callback_t handler,
                         void *handler_arg) {
    while (!messages_.empty()) {
        RecvMessage &m = messages_.pop();
        handler(handler_arg, m.header().user_id, m.user_header().data(), m.user_header().size(),
                reinterpret_cast<ucd_ucx_data_t>(&m), m.total(), m.ep());
    }
    for (ucp_ep_h ep : unresponsive_) params.unresponsive(ep, params.unresponsive_arg);
}

} // namespace ucd_ucx
