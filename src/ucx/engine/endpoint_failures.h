// Endpoints that have failed. User calls in any thread note a failure; progress handles it.
#pragma once

#include "engine/event_queue.h"

#include <deque>
#include <mutex>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

struct EndpointFailure {
    ucp_ep_h ep;
    ucs_status_t status;
    uint64_t before; // uses of ep with a smaller time precede its failure
};

class EndpointFailures {
public:
    explicit EndpointFailures(EventQueue &events) : events_(events) {}

    // May be called by any thread; does not need the engine's lock.
    void note(ucp_ep_h ep, ucs_status_t status) {
        const std::lock_guard held(lock_);
        noted_.push_back({ep, status, 0});
        noted_.back().before = events_.tick();
    }

    bool any_noted() const { return taken_ != events_.now(); }
    // Passes each failure that was noted since the last call to `handle`. If that throws bad_alloc,
    // the next call passes this failure and the later ones again. Returns whether there were any.
    template <class Handle>
    bool handle_each(Handle &&handle) {
        if (!any_noted() && unhandled_.empty()) [[likely]]
            return false;
        if (any_noted()) {
            const std::lock_guard held(lock_);
            for (const EndpointFailure &failure : noted_) recent_[failure.ep] = failure;
            unhandled_.insert(unhandled_.end(), noted_.begin(), noted_.end());
            noted_.clear();
            taken_ = events_.now();
        }
        const bool any = !unhandled_.empty();
        for (; !unhandled_.empty(); unhandled_.pop_front()) handle(unhandled_.front());
        return any;
    }
    // If ep failed after `time`: the status of that failure; else UCS_OK.
    ucs_status_t since(ucp_ep_h ep, uint64_t time) const {
        if (recent_.empty()) return UCS_OK;
        const auto found = recent_.find(ep);
        return found != recent_.end() && time < found->second.before ? found->second.status
                                                                     : UCS_OK;
    }
    // To be called once all events have been handled that were queued when the failures were taken:
    // no later call asks for these failures.
    void forget() {
        if (!recent_.empty()) recent_.clear();
    }

private:
    EventQueue &events_;
    std::mutex lock_; // Lock order: the event queue's lock may be taken while this one is held.
    std::vector<EndpointFailure> noted_;
    uint64_t taken_ = 0;
    std::deque<EndpointFailure> unhandled_;
    std::unordered_map<ucp_ep_h, EndpointFailure> recent_;
};

} // namespace ucd_ucx
