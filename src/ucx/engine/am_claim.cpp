#include "engine/am_claim.h"

#include <mutex>
#include <set>
#include <utility>

namespace ucd_ucx {
namespace {

struct Taken {
    std::mutex lock;
    std::set<std::pair<ucp_worker_h, unsigned>> ids;
};

Taken &taken() {
    static Taken all;
    return all;
}

} // namespace

Status AmClaim::take(ucp_worker_h worker, unsigned am_id) {
    const std::lock_guard held(taken().lock);
    if (!taken().ids.emplace(worker, am_id).second)
        return fail(UCD_ERR__INVALID_ARG,
                    "params->am_id is %u, which another pipeline of this worker has", am_id);
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
