// An engine's claim on an active message id of a worker. UCX would let a second engine replace the
// handler of the first.
#pragma once

#include "common/failure.h"
#include "common/worker_lock.h"

#include <atomic>
#include <memory>
#include <ucp/api/ucp.h>

namespace ucd_ucx {

// The lock of all engines of a worker for calls of UCX that must not run at the same time:
// progress, and cancelling a receive. UCX, in all versions from 1.13 to 1.22, looks whether a
// receive is complete before it locks the worker; if another thread completes it in between, a UCX
// with assertions aborts. Lock order: this lock may be taken while an engine's lock is held; no
// engine's lock is taken while this one is held.
class ProgressLock {
public:
    void be_needed(bool needed) { lock_.be_needed(needed); }
    // For progress, which gives way to a thread that cancels: else that might never get the lock.
    bool try_lock() { return cancelling_ == 0 && lock_.try_lock(); }
    void unlock() { lock_.unlock(); }
    // To cancel.
    void lock() {
        ++cancelling_;
        lock_.lock();
        --cancelling_;
    }

private:
    WorkerLock lock_;
    std::atomic<unsigned> cancelling_ = 0; // threads that wait for the lock
};

class AmClaim {
public:
    AmClaim() = default;
    ~AmClaim();
    AmClaim(const AmClaim &) = delete;
    AmClaim &operator=(const AmClaim &) = delete;
    // INVALID_ARG: another engine of this process has claimed the id.
    Status take(ucp_worker_h worker, unsigned am_id, bool has_threads);
    ProgressLock &progress_lock() const { return *progress_lock_; }

private:
    std::shared_ptr<ProgressLock> progress_lock_;
    ucp_worker_h worker_ = nullptr;
    unsigned am_id_ = 0;
};

} // namespace ucd_ucx
