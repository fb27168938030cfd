// Progress of two sides, of which an allocation of one fails.
#pragma once

#include "c_api/allocations.hpp"

#include <ucp/api/ucp.h>

#include <cstddef>
#include <functional>

namespace ucdtest {

// Of whose progress an allocation is to fail, and which.
class FailingProgress {
public:
    FailingProgress(bool second, std::size_t nth) : second_(second), left_(nth) {}
    // Makes progress at both sides; false if the condition does not come true in many more rounds
    // than anything takes.
    template <class First, class Second>
    bool until(First &&first, Second &&second, const std::function<bool()> &condition) {
        for (int round = 0; round < rounds; ++round) {
            if (condition()) return true;
            run(!second_, first);
            run(second_, second);
        }
        return false;
    }
    bool has_failed() const { return left_ == 0; }

private:
    template <class Progress>
    void run(bool fails, Progress &&progress) {
        fail_allocation(fails ? left_ : 0);
        progress();
        if (fails) left_ = until_failing();
        (void)end_failing();
    }
    static constexpr int rounds = 5000;
    const bool second_;
    std::size_t left_;
};

inline bool ended_as_it_may(ucs_status_t status) {
    return status == UCS_OK || status == UCS_ERR_NO_MEMORY;
}

} // namespace ucdtest
