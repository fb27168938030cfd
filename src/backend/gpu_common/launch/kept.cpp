#include "launch/kept.h"

#include "runtime/captures.h"
#include "runtime/driver.h"
#include "runtime/graph_keeps.h"

#include <algorithm>
#include <thread>

namespace ucd::UCD_GPU {

bool Kept::sweep(std::size_t most) {
    Items done; // destroyed outside the lock, because freeing a type may take long
    const std::lock_guard lock(mutex_);
    for (std::size_t left = std::min(most, items_.size()); left > 0; --left) {
        const auto next = items_.begin();
        // A failure means that the work is over. The stream reports it to its owner.
        if (gpuEventQuery(next->done.get()) == gpuErrorNotReady) {
            items_.splice(items_.end(), items_, next);
            break;
        }
        done.splice(done.end(), items_, next);
    }
    return !items_.empty();
}

void KeptLaunches::finish() {
    parts_.for_each([](Kept &kept) {
        if (kept.is_empty()) return; // of a device that was never used, nothing is asked
        const BesideCaptures beside;
        while (kept.sweep(1)) std::this_thread::yield();
    });
}

Kept &KeptLaunches::sweep() {
    constexpr std::size_t few = 4; // more than one call adds, so that the list stays short
    Kept &kept = parts_.own();
    (void)kept.sweep(few);
    if (std::size_t part; kept.is_time_for_others(part)) (void)parts_[part].sweep(few);
    return kept;
}

Status KeptLaunches::keep_with_graph(const LaunchTarget &to, Keep keep) {
    if (keep == nullptr) return success;
    auto held = std::make_shared<KeptByGraph>(to.device().stores().graphs,
                                              std::make_shared<const Keep>(keep));
    const Status status = driver::keep_with_graph(to.stream(), std::move(held));
    if (status.code() != UCD_ERR__NOT_SUPPORTED) return status;
    const std::lock_guard lock(mutex_);
    for_good_.push_back(std::move(keep));
    return success;
}

} // namespace ucd::UCD_GPU
