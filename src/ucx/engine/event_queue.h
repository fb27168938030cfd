// UCX's callbacks put events into a queue; progress handles them.
#pragma once

#include "common/queue.h"
#include "common/worker_lock.h"

#include <atomic>
#include <cstdint>

namespace ucd_ucx {

class Event {
public:
    // Progress calls this once, with the engine's lock held.
    virtual void on_complete() = 0;
    Event *next = nullptr; // link of the queue

protected:
    ~Event() = default;
};

// A queue of events in order of arrival, with a clock that orders events and failures of endpoints.
// No other lock is taken while the queue's lock is held, so UCX's callbacks may use the queue
// whatever locks UCX holds.
class EventQueue {
public:
    WorkerLock lock;

    // Sets *since, if that is not null, to the clock's time before another thread can take the
    // event.
    void put(Event &event, uint64_t *since = nullptr) {
        const std::lock_guard held(lock);
        if (since != nullptr) *since = clock_.load(std::memory_order_relaxed);
        events_.push(event);
    }

    // For a handler that runs out of memory: puts the event back as the first one. The handler then
    // throws bad_alloc.
    void put_back(Event &event) { taken_.push_front(event); }

    // Handles all events in the queue; the engine's lock must be held. Returns whether there were
    // any.
    bool handle_all() {
        // If a handler throws bad_alloc, it and the events after it stay for the next call, which
        // handles them before those that have come since.
        take_all();
        const bool any = !taken_.empty();
        while (!taken_.empty()) taken_.pop().on_complete();
        return any;
    }

    // Takes an event that was not handled; null if there is none.
    Event *take() {
        if (taken_.empty()) take_all();
        return taken_.empty() ? nullptr : &taken_.pop();
    }

    // Whatever happened before an endpoint failed has a smaller time than the tick of that failure.
    uint64_t now() const { return clock_.load(std::memory_order_acquire); }
    uint64_t tick() {
        const std::lock_guard held(lock);
        return ++clock_;
    }

private:
    void take_all() {
        const std::lock_guard held(lock);
        taken_.splice(events_);
    }

    Queue<Event> events_;
    Queue<Event> taken_; // taken from the queue, but not handled yet
    std::atomic<uint64_t> clock_ = 0;
};

} // namespace ucd_ucx
