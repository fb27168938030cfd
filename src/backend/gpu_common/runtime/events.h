// A pool of events of a device.
#pragma once

#include "free_list.h"
#include "runtime/check.h"

#include <atomic>
#include <cstddef>
#include <utility>

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
        for (gpuEvent_t event; free_.take(event);) (void)gpuEventDestroy(event);
    }

    // The device must be current.
    Status take(PooledEvent &taken) {
        gpuEvent_t event;
        if (!free_.take(event)) {
            free_.reserve(++made_); // so that giving back needs no allocation
            UCD_TRY(
                check(gpuEventCreateWithFlags(&event, gpuEventDisableTiming), "creating an event"));
        }
        taken = PooledEvent(*this, event);
        return success;
    }

private:
    friend class PooledEvent;
    FreeList<gpuEvent_t> free_;
    std::atomic<std::size_t> made_{0};
};

inline PooledEvent::~PooledEvent() {
    if (event_ != nullptr) pool_->free_.give_back(event_);
}

} // namespace ucd::UCD_GPU
