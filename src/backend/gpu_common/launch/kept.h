// Keeps what launches in callers' streams, and graphs of them, need, and releases it in time.
#pragma once

#include "keep.h"
#include "launch/launch_target.h"
#include "per_thread.h"
#include "runtime/events.h"

#include <atomic>
#include <cstddef>
#include <list>
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
    // streams. Returns whether any items are left. The thread must be beside captures.
    bool sweep(std::size_t most);

    bool is_empty() {
        const std::lock_guard lock(mutex_);
        return items_.empty();
    }

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

// This holds what all launches of a backend in callers' streams keep.
class KeptLaunches {
public:
    // The devices still exist.
    ~KeptLaunches() { finish(); }

    // Waits until all launches are done.
    void finish();

    // Frees what this thread's launches no longer need, and returns what they still do.
    Kept &sweep();
    // Keeps `keep` until the graph that the stream is being captured into is destroyed, or the
    // backend ends. If the driver does not report the former, until the latter.
    Status keep_with_graph(const LaunchTarget &to, Keep keep);

private:
    PerThread<Kept> parts_;
    std::mutex mutex_;
    std::vector<Keep> for_good_;
};

} // namespace ucd::UCD_GPU
