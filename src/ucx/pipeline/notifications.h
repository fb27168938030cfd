// What the user's callbacks are to be told: messages that have come, and endpoints that do not
// respond.
#pragma once

#include "common/queue.h"

#include <ucd_ucx.h>
#include <vector>

namespace ucd_ucx {

class RecvMessage;

// Collected under the pipeline's lock. To call back, it is moved to a variable and the lock
// released.
class Notifications {
public:
    void add_message(RecvMessage &message);
    // A transfer waits for the endpoint for longer than its time limit.
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
