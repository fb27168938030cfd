// Events: UCX's callbacks put them into a queue, and progress of the pipeline handles them.
#pragma once

#include "common/queue.h"
#include "common/worker_lock.h"

#include <atomic>
#include <cstdint>

struct ucd_ucx_pipeline;

namespace ucd_ucx {

class Event {
public:
    // Called once by progress, with the pipeline's lock held.
    virtual void on_complete(ucd_ucx_pipeline &pipeline) = 0;
    Event *next = nullptr; // in a queue

protected:
    ~Event() = default;
};

// Events in the order in which they came, and a clock that orders them and failures of endpoints.
// No other lock is taken under the queue's lock, so UCX's callbacks may use it under any lock of
// UCX.
class EventQueue {
public:
    WorkerLock lock;

    void put(Event &event) {
        const std::lock_guard held(lock);
        events_.push(event);
    }
    // Sets `since` to the time, before another thread can take the event.
    void put(Event &event, uint64_t &since) {
        const std::lock_guard held(lock);
        since = clock_.load(std::memory_order_relaxed);
        events_.push(event);
    }

    // For an event that is being handled, and for which there is no memory: it stays the first.
    // The handler then throws bad_alloc.
    void put_back(Event &event) { taken_.push_front(event); }

    // Handles those that are there, with the pipeline's lock held. Whether there were any.
    bool handle_all(ucd_ucx_pipeline &pipeline) {
        // Those after one that throws bad_alloc stay for the next call.
        if (taken_.empty()) take_all();
        const bool any = !taken_.empty();
        while (!taken_.empty()) taken_.pop().on_complete(pipeline);
        return any;
    }

    // Passes each event that was not handled to `drop`.
    template <class Drop>
    void drop_all(Drop &&drop) {
        while (!taken_.empty()) drop(taken_.pop());
        take_all();
        while (!taken_.empty()) drop(taken_.pop());
    }

    // What came before an endpoint failed has a smaller number than the tick of that failure.
    uint64_t now() const { return clock_.load(std::memory_order_acquire); }
    uint64_t tick() {
        const std::lock_guard held(lock);
        return ++clock_;
    }

private:
    void take_all() {
        const std::lock_guard held(lock);
        taken_ = std::move(events_);
    }

    Queue<Event> events_;
    Queue<Event> taken_; // and not handled yet
    std::atomic<uint64_t> clock_ = 0;
};

} // namespace ucd_ucx
