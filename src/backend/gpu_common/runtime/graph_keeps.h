// Keeps what graphs of captured launches need, until they are destroyed or the backend ends.
#pragma once

#include "vendor.h"

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace ucd::UCD_GPU {

// Has what the graphs of one backend keep. The driver reports the end of a graph in a thread of its
// own, which must not free anything that calls the driver. So the next call of the backend does it.
class GraphKeeps {
public:
    using Items = std::list<std::shared_ptr<const void>>;

    Items::iterator add(std::shared_ptr<const void> what) {
        const std::lock_guard lock(mutex_);
        return held_.insert(held_.end(), std::move(what));
    }
    // The graph that kept the item is destroyed.
    void give_up(Items::iterator item) noexcept {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        given_up_.splice(given_up_.end(), held_, item);
        any_.store(true, std::memory_order_relaxed);
    }
    // Frees what destroyed graphs have kept.
    void clear() {
        if (!any_.load(std::memory_order_relaxed)) [[likely]]
            return;
        Items freed; // destroyed outside the lock
        const std::lock_guard lock(mutex_);
        freed.swap(given_up_);
        // performance only: otherwise later calls look at an empty list
        any_.store(false, std::memory_order_relaxed);
    }
    // Frees everything, because the backend ends: the code of libucd that frees a plan may be
    // unloaded before the graph is destroyed. The graph may not be launched again.
    void close() {
        Items held, given_up; // destroyed outside the lock
        const std::lock_guard lock(mutex_);
        closed_ = true;
        held.swap(held_);
        given_up.swap(given_up_);
    }

private:
    std::mutex mutex_;
    Items held_, given_up_;
    std::atomic<bool> any_{false};
    bool closed_ = false;
};

// A graph owns one, which keeps an item as long as the graph.
class KeptByGraph {
public:
    KeptByGraph(std::shared_ptr<GraphKeeps> keeps, std::shared_ptr<const void> what)
        : keeps_(std::move(keeps)), item_(keeps_->add(std::move(what))) {}
    ~KeptByGraph() { keeps_->give_up(item_); }
    KeptByGraph(const KeptByGraph &) = delete;
    KeptByGraph &operator=(const KeptByGraph &) = delete;

private:
    const std::shared_ptr<GraphKeeps> keeps_;
    const GraphKeeps::Items::iterator item_;
};

} // namespace ucd::UCD_GPU
