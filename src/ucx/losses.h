// Endpoints that were lost: noted where UCX calls back, handled where progress is made.
#pragma once

#include "event.h"

#include <mutex>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ucd_ucx {

struct Loss {
    ucp_ep_h ep;
    ucs_status_t status;
    uint64_t before; // what came to use ep before it was lost has a smaller number
};

class Losses {
public:
    explicit Losses(Inbox &inbox) : inbox_(inbox) {}

    // In any thread, without a lock.
    void note(ucp_ep_h ep, ucs_status_t status) {
        const std::lock_guard held(lock_);
        noted_.push_back({ep, status, 0});
        noted_.back().before = inbox_.tick();
    }

    bool are_noted() const { return taken_ != inbox_.now(); }
    // The losses since this was last called.
    std::vector<Loss> take() {
        if (!are_noted()) return {};
        const std::lock_guard held(lock_);
        taken_ = inbox_.now();
        for (const Loss &loss : noted_) recent_[loss.ep] = loss;
        return std::exchange(noted_, {});
    }
    // The status with which ep was lost after that time, or UCS_OK.
    ucs_status_t since(ucp_ep_h ep, uint64_t time) const {
        if (recent_.empty()) return UCS_OK;
        const auto found = recent_.find(ep);
        return found != recent_.end() && time < found->second.before ? found->second.status
                                                                     : UCS_OK;
    }
    // All that was in the inbox when losses were taken has been handled, so nobody asks for them.
    void forget() { recent_.clear(); }

private:
    Inbox &inbox_;
    std::mutex lock_; // only the inbox's is taken under it
    std::vector<Loss> noted_;
    uint64_t taken_ = 0;
    std::unordered_map<ucp_ep_h, Loss> recent_;
};

} // namespace ucd_ucx
