// Endpoints that have failed: noted by the user's call in any thread, handled by progress.
#pragma once

#include "common/event_queue.h"

#include <mutex>
#include <ucp/api/ucp.h>
#include <unordered_map>
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
    // Passes each failure since the last call to `handle`. One for which that throws bad_alloc, and
    // those after it, are passed again by the next call. Whether there were any.
    template <class Handle>
    bool handle_each(Handle &&handle) {
        if (any_noted()) {
            const std::lock_guard held(lock_);
            for (const EndpointFailure &failure : noted_) recent_[failure.ep] = failure;
            unhandled_.insert(unhandled_.end(), noted_.begin(), noted_.end());
            noted_.clear();
            taken_ = events_.now();
        }
        const bool any = !unhandled_.empty();
        for (; !unhandled_.empty(); unhandled_.erase(unhandled_.begin()))
            handle(unhandled_.front());
        return any;
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
    std::vector<EndpointFailure> unhandled_;
    std::unordered_map<ucp_ep_h, EndpointFailure> recent_;
};

} // namespace ucd_ucx
