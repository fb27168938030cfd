// A pool of events of a device.
#pragma once

#include "runtime/check.h"

#include <mutex>
#include <utility>
#include <vector>

namespace ucd::UCD_GPU {

class EventPool;

// An event that returns to its pool when destroyed.
class PooledEvent {
public:
    PooledEvent() = default;
    PooledEvent(PooledEvent &&other) noexcept
        : pool_(other.pool_), event_(std::exchange(other.event_, nullptr)) {}
    PooledEvent &operator=(PooledEvent &&other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(event_, other.event_);
        return *this;
    }
    ~PooledEvent();

    gpuEvent_t get() const { return event_; }
    explicit operator bool() const { return event_ != nullptr; }

private:
    friend class EventPool;
    PooledEvent(EventPool &pool, gpuEvent_t event) : pool_(&pool), event_(event) {}
    EventPool *pool_ = nullptr;
    gpuEvent_t event_ = nullptr;
};

class EventPool {
public:
    EventPool() = default;
    EventPool(const EventPool &) = delete;
    EventPool &operator=(const EventPool &) = delete;
    // All events must have been returned. Failures are ignored: at exit, the driver may already be
    // unloaded.
    ~EventPool() {
        for (const gpuEvent_t event : free_) (void)gpuEventDestroy(event);
    }

    // The device must be current.
    Status take(PooledEvent &taken) {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) {
            free_.reserve(made_ + 1); // so that giving back needs no allocation
            gpuEvent_t event;
            UCD_TRY(
                check(gpuEventCreateWithFlags(&event, gpuEventDisableTiming), "creating an event"));
            ++made_;
            taken = PooledEvent(*this, event);
        } else {
            taken = PooledEvent(*this, free_.back());
            free_.pop_back();
        }
        return success;
    }

private:
    friend class PooledEvent;
    void give_back(gpuEvent_t event) noexcept {
        const std::lock_guard lock(mutex_);
        free_.push_back(event);
    }

    std::mutex mutex_;
    std::size_t made_ = 0;
    std::vector<gpuEvent_t> free_;
};

inline PooledEvent::~PooledEvent() {
    if (event_ != nullptr) pool_->give_back(event_);
}

} // namespace ucd::UCD_GPU
