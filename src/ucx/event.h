// What UCX's callbacks report: noted where they are called, handled where the pipeline makes
// progress.
#pragma once

#include <mutex>
#include <utility>

struct ucd_ucx_pipeline;

namespace ucd_ucx {

class Event {
public:
    virtual void happen(ucd_ucx_pipeline &pipeline) = 0;
    Event *next = nullptr; // in the inbox

protected:
    ~Event() = default;
};

// Events in the order in which they came. Nothing else is locked while its lock is held, so UCX may
// hold whatever it likes when it calls back.
class Inbox {
public:
    void put(Event &event) {
        const std::lock_guard lock(mutex_);
        event.next = nullptr;
        *end_ = &event;
        end_ = &event.next;
    }

    Event *take_all() {
        const std::lock_guard lock(mutex_);
        end_ = &first_;
        return std::exchange(first_, nullptr);
    }

private:
    std::mutex mutex_;
    Event *first_ = nullptr;
    Event **end_ = &first_;
};

} // namespace ucd_ucx
