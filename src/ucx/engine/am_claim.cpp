#include "engine/am_claim.h"

#include <map>
#include <mutex>
#include <utility>

namespace ucd_ucx {
namespace {

std::mutex claims_mutex;
// By worker and id; protected by claims_mutex.
std::map<std::pair<ucp_worker_h, unsigned>, std::shared_ptr<ProgressLock>> claims;

} // namespace

Status AmClaim::take(ucp_worker_h worker, unsigned am_id, bool has_threads) {
    const std::lock_guard held(claims_mutex);
    const auto other = claims.lower_bound({worker, 0});
    const bool is_shared = other != claims.end() && other->first.first == worker;
    progress_lock_ = is_shared ? other->second : std::make_shared<ProgressLock>();
    if (!is_shared) progress_lock_->be_needed(has_threads);
    if (!claims.emplace(std::pair(worker, am_id), progress_lock_).second)
        return fail(UCD_ERR__INVALID_ARG,
                    "params->am_id is %u, which another object of this worker has", am_id);
    worker_ = worker;
    am_id_ = am_id;
    return success;
}

AmClaim::~AmClaim() {
    if (worker_ == nullptr) return;
    const std::lock_guard held(claims_mutex);
    claims.erase({worker_, am_id_});
}

} // namespace ucd_ucx
