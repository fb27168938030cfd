// What launches in callers' streams, and graphs of them, need, and who lets go of it.
#pragma once

#include "launch/submission.h"
#include "per_thread.h"
#include "runtime/check.h"
#include "runtime/events.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

namespace ucd::UCD_GPU {

// What launches in callers' streams need, until they are done; of one thread.
class Kept {
public:
    struct Item {
        std::shared_ptr<const void> what;
        LaunchNeeds needs; // destroyed before `what`: they are lists of plans
        PooledEvent done;
    };
    // Items are allocated before their launch, so that add() cannot fail.
    using Items = std::list<Item>;

    void add(Items &items) noexcept {
        const std::lock_guard lock(mutex_);
        items_.splice(items_.end(), items);
    }

    // Checks the next few items, up to the first that is not done, and frees those that are. The
    // next time begins with another one: one stream must not hold up what others have. Whether any
    // are left.
    bool sweep(std::size_t most) {
        Items done; // destroyed outside the lock: freeing a type may take a while
        const std::lock_guard lock(mutex_);
        for (std::size_t left = std::min(most, items_.size()); left > 0; --left) {
            const auto next = items_.begin();
            // A failure also shows in the stream, where its owner sees it. The work is over.
            if (gpuEventQuery(next->done.get()) == gpuErrorNotReady) {
                items_.splice(items_.end(), items_, next);
                break;
            }
            done.splice(done.end(), items_, next);
        }
        return !items_.empty();
    }

    // Now and then a thread sweeps another's: that one may have ended.
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

// A launch that is being put into a caller's stream. Even if the call fails, what is in the stream
// by then needs its lists and tables until it is done.
class StreamLaunch {
public:
    StreamLaunch(Kept &kept, gpuStream_t stream, Kept::Items item)
        : kept_(kept), stream_(stream), item_(std::move(item)) {}
    ~StreamLaunch() {
        const LastError error = last_error();
        // Without the event, only waiting tells when it is done.
        if (!check(gpuEventRecord(item_.front().done.get(), stream_), "recording an event").ok())
            (void)gpuStreamSynchronize(stream_);
        kept_.add(item_);
        last_error() = error;
    }
    StreamLaunch(const StreamLaunch &) = delete;
    StreamLaunch &operator=(const StreamLaunch &) = delete;
    LaunchNeeds &needs() { return item_.front().needs; }

private:
    Kept &kept_;
    const gpuStream_t stream_;
    Kept::Items item_;
};

// What graphs needed. The driver tells in a thread of its own that a graph goes, where nothing may
// be freed that calls the driver: that is left to the library's next call.
class GivenUp {
public:
    using Items = std::list<std::shared_ptr<const void>>;

    // Never destroyed: graphs may go at exit.
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
        Items freed; // outside the lock
        const std::lock_guard lock(mutex_);
        freed.swap(items_);
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

} // namespace ucd::UCD_GPU
