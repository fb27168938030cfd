// What UCX's callbacks report: noted where they are called, handled where the pipeline makes
// progress.
#pragma once

#include <atomic>
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

// Events in the order in which they came. Without a lock, so UCX may hold whatever it likes when it
// calls back.
class Inbox {
public:
    void put(Event &event) {
        event.next = last_.load(std::memory_order_relaxed);
        while (!last_.compare_exchange_weak(event.next, &event, std::memory_order_release,
                                            std::memory_order_relaxed)) {
        }
    }

    Event *take_all() {
        if (last_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        Event *from = last_.exchange(nullptr, std::memory_order_acquire);
        Event *first = nullptr;
        while (from != nullptr) {
            Event *const earlier = std::exchange(from->next, first);
            first = std::exchange(from, earlier);
        }
        return first;
    }

private:
    std::atomic<Event *> last_ = nullptr; // the others by `next`, each the one before
};

} // namespace ucd_ucx
