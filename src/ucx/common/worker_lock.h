// A lock for what belongs to a worker.
#pragma once

#include <mutex>

namespace ucd_ucx {

// Only a worker of UCS_THREAD_MODE_MULTI needs one: all others are called by one thread at a time.
class WorkerLock {
public:
    // Before anyone uses it.
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
