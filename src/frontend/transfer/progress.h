// The outstanding work of a context, and what moves it forward: there is no thread for that, only
// the calls of users who test or wait.
#pragma once

#include "per_thread.h"
#include "transfer/async_operation.h"
#include "transfer/chunk_pool.h"

#include <atomic>
#include <mutex>

namespace ucd {

// Operations in the order in which they were added; allocates nothing.
class AsyncOperationList {
public:
    bool empty() const { return first_ == nullptr; }
    AsyncOperation *first() const { return first_; }
    static AsyncOperation *after(const AsyncOperation &operation) { return operation.next_; }
    void add(AsyncOperation &operation);
    void remove(AsyncOperation &operation);
    // Takes all of another list to the end of this one.
    void take(AsyncOperationList &other);

private:
    AsyncOperation *first_ = nullptr, *last_ = nullptr;
};

class Progress {
public:
    explicit Progress(StagingSizes sizes = {}) : pools_(sizes), list_pools_(sizes) {}
    // Waits until all work is done. No other thread may be in here then.
    ~Progress();

    ChunkPools &pools() { return pools_; }
    // For lists of indices on their way to where they are read. Work that holds one of these may
    // wait for a chunk of the others, and never the other way round.
    ChunkPools &list_pools() { return list_pools_; }

    void add(AsyncOperation &operation) noexcept;

    // For a call that waits for its own operation: one that nobody else has to move forward, and
    // that is not outstanding when the call returns, is not listed.
    void complete(AsyncOperation &operation) noexcept;

    // Moves this operation and all staged ones forward; whether this one is done. It is then the
    // caller's alone, to be asked for its outcome and deleted. One thread at a time per operation.
    bool test(AsyncOperation &operation) noexcept;
    void wait(AsyncOperation &operation) noexcept;

private:
    void progress_direct(AsyncOperation &operation) noexcept;
    bool complete_all_direct() noexcept;
    void progress_staged() noexcept;

    ChunkPools pools_, list_pools_;

    // Operations without chunks are advanced by their owner alone, without a lock. The lists serve
    // the end of the context: each thread has one of its own for what it starts.
    struct Direct {
        std::mutex mutex;
        AsyncOperationList list;
    };
    PerThread<Direct> direct_;

    // Any thread in ucd_test or ucd_wait advances staged operations, oldest first. The pass may
    // copy data, so new operations arrive in a list of their own, whose lock is held briefly.
    std::mutex pass_mutex_;
    AsyncOperationList staged_;
    std::mutex incoming_mutex_;
    AsyncOperationList incoming_;
    std::atomic<std::size_t> staged_count_{0};
};

} // namespace ucd
