// Calls of the user's callbacks that are due, for messages that have arrived and for endpoints that
// do not respond.
#pragma once

#include "common/queue.h"

#include <ucd_ucx.h>
#include <vector>

namespace ucd_ucx {

class RecvMessage;

// Collected while the pipeline's lock is held. To call the callbacks, progress moves this object to
// a local variable and releases the lock.
class Notifications {
public:
    void add_message(RecvMessage &message);
    // A transfer has waited for the endpoint beyond its time limit.
    void add_unresponsive(ucp_ep_h ep);
    void remove_unresponsive(ucp_ep_h ep) { std::erase(unresponsive_, ep); }
    bool empty() const { return messages_.empty() && unresponsive_.empty(); }

    void drop_messages(ucd_ucx_pipeline &pipeline);
    void call(const ucd_ucx_pipeline_params_t &params, ucd_ucx_am_callback_t handler,
              void *handler_arg);

private:
    Queue<RecvMessage> messages_;
    std::vector<ucp_ep_h> unresponsive_;
};

} // namespace ucd_ucx
