// Work that goes on after its call has returned, and what moves it forward: there is no thread for
// that, only the calls of users who test or wait.
#pragma once

#include "per_thread.h"
#include "status.h"
#include "support/exception_status.h"
#include "support/short_list.h"
#include "transfer/chunk_pool.h"
#include "types/type.h"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>

namespace ucd {

class Context;

// Work under way. Its address is the request handle, so that handing it out allocates nothing and
// cannot fail.
class AsyncOperation {
public:
    AsyncOperation() = default;
    AsyncOperation(const AsyncOperation &) = delete;
    AsyncOperation &operator=(const AsyncOperation &) = delete;
    virtual ~AsyncOperation() = default;

    // Moves the work forward without waiting for a device; true once nothing is left to do. A
    // failure is recorded and ends it as soon as nothing of it is under way any more. Complete work
    // has given back all that it held: types, chunks, events.
    virtual bool progress() noexcept = 0;

    // Whether it takes staging chunks: then other work may have to wait for this one's progress.
    virtual bool staged() const noexcept = 0;

    // How it went: success or the first failure, which becomes this thread's last error.
    Status outcome() const noexcept {
        if (!outcome_.ok()) last_error() = error_;
        return outcome_;
    }
    bool failed() const noexcept { return !outcome_.ok(); }

    // Set by Progress, which then no longer knows the operation: it is its owner's alone.
    bool done() const noexcept { return done_.load(std::memory_order_acquire); }

    // Does a part of the work: body() returns a Status. Records its failure, exceptions included.
    template <class Body>
    void attempt(Body &&body) noexcept {
        try {
            record(body());
        } catch (const std::exception &) {
            record(status_of_exception());
        }
    }

private:
    friend class AsyncOperationList;
    friend class Progress;

    void record(Status status) noexcept {
        if (status.ok() || failed()) return;
        outcome_ = status;
        error_ = last_error();
    }

    AsyncOperation *previous_ = nullptr, *next_ = nullptr;
    std::size_t part_ = 0; // of the lists that it may be in
    Status outcome_;
    // The sentence goes along: another thread may have come upon the failure.
    LastError error_;
    std::atomic<bool> done_{false};
};

// Types that work under way uses, and that its user may free meanwhile.
class KeptTypes {
public:
    void add(const Type &type) {
        if (!types_.empty() && types_.back().get() == &type) return;
        types_.push_back(nullptr); // first: once the reference is there, nothing fails
        retain(type);
        types_.back().reset(&type);
    }
    void add(const KeptTypes &others) {
        for (const ConstTypeOwner &type : others.types_) add(*type);
    }
    bool empty() const { return types_.empty(); }
    void clear() { types_.clear(); }

private:
    ShortList<ConstTypeOwner> types_;
};

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

// The outstanding work of a context.
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

// Makes the work outstanding, and its address the user's request. Null stays null.
ucd_request_t hand_out(Context &context, std::unique_ptr<AsyncOperation> operation) noexcept;

// For calls that block: waits until the work is done. Null is done.
Status finish(Context &context, std::unique_ptr<AsyncOperation> operation) noexcept;

} // namespace ucd
