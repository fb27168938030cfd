// The lock for the objects of a worker.
#pragma once

#include <mutex>

namespace ucd_ucx {

// Does nothing unless the worker has UCS_THREAD_MODE_MULTI: all other workers are used by one
// thread at a time.
class WorkerLock {
public:
    // Call this before the lock is used.
    void be_needed(bool needed) { needed_ = needed; }
    void lock() {
        if (needed_) mutex_.lock();
    }
    bool try_lock() { return !needed_ || mutex_.try_lock(); }
    void unlock() {
        if (needed_) mutex_.unlock();
    }
    bool is_needed() const { return needed_; }

private:
    bool needed_ = true;
    std::mutex mutex_;
};

} // namespace ucd_ucx
