// Keeps what launches in callers' streams, and graphs of them, need, and releases it in time.
#pragma once

#include "keep.h"
#include "launch/launch_target.h"
#include "per_thread.h"
#include "runtime/events.h"

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace ucd::UCD_GPU {

// Keeps what launches in callers' streams need until they are done. Each thread has its own.
class Kept {
public:
    struct Item {
        Keep what;
        LaunchNeeds needs; // destroyed before `what`, because its lists belong to plans
        PooledEvent done;
    };
    // Items are allocated before their launch, so that add() cannot fail.
    using Items = std::list<Item>;

    void add(Items &items) noexcept {
        const std::lock_guard lock(mutex_);
        items_.splice(items_.end(), items);
    }

    // Checks up to `most` items, stops at the first that is not done, and frees those that are.
    // That item is moved to the end, so that one busy stream does not keep the items of other
    // streams. Returns whether any items are left.
    bool sweep(std::size_t most);

    // Whether this call should also sweep the items of another thread, `part`: that thread may have
    // ended.
    bool is_time_for_others(std::size_t &part) {
        constexpr std::size_t often = 64;
        const std::size_t call = calls_.fetch_add(1, std::memory_order_relaxed);
        part = call / often % thread_parts;
        return call % often == 0;
    }

private:
    std::mutex mutex_;
    Items items_;
    std::atomic<std::size_t> calls_{1};
};

// What destroyed graphs had kept. The driver reports the end of a graph in a thread of its own,
// which must not free anything that calls the driver. The next call of the library does it.
class GivenUp {
public:
    using Items = std::list<std::shared_ptr<const void>>;

    // Never destroyed, since graphs may be destroyed at exit.
    static GivenUp &instance() {
        static GivenUp *given_up = new GivenUp;
        return *given_up;
    }
    void add(Items &items) noexcept {
        const std::lock_guard lock(mutex_);
        items_.splice(items_.end(), items);
        any_.store(true, std::memory_order_relaxed);
    }
    void clear() {
        if (!any_.load(std::memory_order_relaxed)) [[likely]]
            return;
        Items freed; // destroyed outside the lock
        const std::lock_guard lock(mutex_);
        freed.swap(items_);
        // performance only: otherwise later calls look at an empty list
        any_.store(false, std::memory_order_relaxed);
    }

private:
    std::mutex mutex_;
    Items items_;
    std::atomic<bool> any_{false};
};

class KeptByGraph {
public:
    explicit KeptByGraph(std::shared_ptr<const void> what) { items_.push_back(std::move(what)); }
    ~KeptByGraph() { GivenUp::instance().add(items_); }
    KeptByGraph(const KeptByGraph &) = delete;
    KeptByGraph &operator=(const KeptByGraph &) = delete;

private:
    GivenUp::Items items_;
};

// This holds what all launches of a backend in callers' streams keep.
class KeptLaunches {
public:
    // Waits until all launches are done. The devices still exist.
    ~KeptLaunches();

    // Frees what this thread's launches no longer need, and returns what they still do.
    Kept &sweep();
    // Keeps `keep` until the graph that the stream is being captured into is destroyed. If the
    // driver does not report that, keeps it as long as this object lives.
    Status keep_with_graph(gpuStream_t stream, Keep keep);

private:
    PerThread<Kept> parts_;
    std::mutex mutex_;
    std::vector<Keep> for_good_;
};

} // namespace ucd::UCD_GPU
