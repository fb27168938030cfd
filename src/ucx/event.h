// What UCX's callbacks report: noted where they are called, handled where the pipeline makes
// progress.
#pragma once

#include "queue.h"
#include "worker_lock.h"

struct ucd_ucx_pipeline;

namespace ucd_ucx {

class Event {
public:
    virtual void happen(ucd_ucx_pipeline &pipeline) = 0;
    Event *next = nullptr; // in a queue

protected:
    ~Event() = default;
};

// Events in the order in which they came. Nothing else is locked while its lock is held, so UCX may
// hold whatever it likes when it calls back.
class Inbox {
public:
    WorkerLock lock;

    void put(Event &event) {
        const std::lock_guard held(lock);
        events_.push(event);
    }

    Queue<Event> take_all() {
        const std::lock_guard held(lock);
        return std::move(events_);
    }

private:
    Queue<Event> events_;
};

} // namespace ucd_ucx
