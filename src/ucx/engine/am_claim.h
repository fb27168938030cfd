// An engine's claim on an active message id of a worker. UCX would let a second engine replace the
// handler of the first.
#pragma once

#include "common/failure.h"

#include <ucp/api/ucp.h>

namespace ucd_ucx {

class AmClaim {
public:
    AmClaim() = default;
    ~AmClaim();
    AmClaim(const AmClaim &) = delete;
    AmClaim &operator=(const AmClaim &) = delete;
    // INVALID_ARG: another engine of this process has claimed the id.
    Status take(ucp_worker_h worker, unsigned am_id);

private:
    ucp_worker_h worker_ = nullptr;
    unsigned am_id_ = 0;
};

} // namespace ucd_ucx
