// Endpoints that have failed: noted by the user's call in any thread, handled by progress.
#pragma once

#include "common/event_queue.h"

#include <mutex>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ucd_ucx {

struct EndpointFailure {
    ucp_ep_h ep;
    ucs_status_t status;
    uint64_t before; // what used ep before it failed has a smaller number
};

class EndpointFailures {
public:
    explicit EndpointFailures(EventQueue &events) : events_(events) {}

    // In any thread, without a lock.
    void note(ucp_ep_h ep, ucs_status_t status) {
        const std::lock_guard held(lock_);
        noted_.push_back({ep, status, 0});
        noted_.back().before = events_.tick();
    }

    bool any_noted() const { return taken_ != events_.now(); }
    // The failures since the last call.
    std::vector<EndpointFailure> take() {
        if (!any_noted()) return {};
        const std::lock_guard held(lock_);
        taken_ = events_.now();
        for (const EndpointFailure &failure : noted_) recent_[failure.ep] = failure;
        return std::exchange(noted_, {});
    }
    // The status with which ep failed after that time, or UCS_OK.
    ucs_status_t since(ucp_ep_h ep, uint64_t time) const {
        if (recent_.empty()) return UCS_OK;
        const auto found = recent_.find(ep);
        return found != recent_.end() && time < found->second.before ? found->second.status
                                                                     : UCS_OK;
    }
    // Every event that was in the queue when the failures were taken has been handled.
    void forget() { recent_.clear(); }

private:
    EventQueue &events_;
    std::mutex lock_; // only the event queue's lock is taken under it
    std::vector<EndpointFailure> noted_;
    uint64_t taken_ = 0;
    std::unordered_map<ucp_ep_h, EndpointFailure> recent_;
};

} // namespace ucd_ucx
