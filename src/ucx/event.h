// What UCX's callbacks report: noted where they are called, handled where the pipeline makes
// progress.
#pragma once

#include "queue.h"
#include "worker_lock.h"

#include <atomic>
#include <cstdint>

struct ucd_ucx_pipeline;

namespace ucd_ucx {

class Event {
public:
    virtual void happen(ucd_ucx_pipeline &pipeline) = 0;
    Event *next = nullptr; // in a queue

protected:
    ~Event() = default;
};

// Events in the order in which they came, and a clock that says which of them came before an
// endpoint was lost. Nothing else is locked while its lock is held, so UCX may hold whatever it
// likes when it calls back.
class Inbox {
public:
    WorkerLock lock;

    void put(Event &event) {
        const std::lock_guard held(lock);
        events_.push(event);
    }
    // And notes when, before anyone can take it.
    void put(Event &event, uint64_t &since) {
        const std::lock_guard held(lock);
        since = clock_.load(std::memory_order_relaxed);
        events_.push(event);
    }

    Queue<Event> take_all() {
        const std::lock_guard held(lock);
        return std::move(events_);
    }

    // Whatever came before an endpoint was lost has a smaller number than the tick of that loss.
    uint64_t now() const { return clock_.load(std::memory_order_acquire); }
    uint64_t tick() {
        const std::lock_guard held(lock);
        return ++clock_;
    }

private:
    Queue<Event> events_;
    std::atomic<uint64_t> clock_ = 0;
};

} // namespace ucd_ucx
