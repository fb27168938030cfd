#include "engine/am_claim.h"

#include <map>
#include <mutex>
#include <utility>

namespace ucd_ucx {
namespace {

struct Taken {
    std::mutex lock;
    std::map<std::pair<ucp_worker_h, unsigned>, std::shared_ptr<ProgressLock>> ids;
};

Taken &taken() {
    static Taken all;
    return all;
}

} // namespace

Status AmClaim::take(ucp_worker_h worker, unsigned am_id, bool has_threads) {
    const std::lock_guard held(taken().lock);
    const auto other = taken().ids.lower_bound({worker, 0});
    const bool is_shared = other != taken().ids.end() && other->first.first == worker;
    progress_lock_ = is_shared ? other->second : std::make_shared<ProgressLock>();
    if (!is_shared) progress_lock_->be_needed(has_threads);
    if (!taken().ids.emplace(std::pair(worker, am_id), progress_lock_).second)
        return fail(UCD_ERR__INVALID_ARG,
                    "params->am_id is %u, which another object of this worker has", am_id);
    worker_ = worker;
    am_id_ = am_id;
    return success;
}

AmClaim::~AmClaim() {
    if (worker_ == nullptr) return;
    const std::lock_guard held(taken().lock);
    taken().ids.erase({worker_, am_id_});
}

} // namespace ucd_ucx
