// Work that continues after its call has returned. No thread of the library advances it, only
// users' calls that test or wait.
#pragma once

#include "exception_status.h"
#include "per_thread.h"
#include "status.h"
#include "support/handles.h"
#include "support/short_list.h"
#include "transfer/chunk_pool.h"
#include "types/type.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

namespace ucd {

class Context;

// Work in progress. Its address is the request handle, so that returning a handle allocates nothing
// and cannot fail.
class AsyncOperation {
public:
    AsyncOperation() = default;
    AsyncOperation(const AsyncOperation &) = delete;
    AsyncOperation &operator=(const AsyncOperation &) = delete;
    virtual ~AsyncOperation() = default;

    // Advances the work without waiting for a device. Returns true if nothing is left to do. A
    // failure is recorded, and ends the work as soon as nothing of it is in progress. Work that is
    // complete has released everything that it held: types, chunks, events.
    virtual bool progress() noexcept = 0;

    // Whether it uses staging chunks. Other work may then have to wait for the progress of this
    // work.
    virtual bool staged() const noexcept = 0;

    ucd_request_t handle() noexcept {
        add_handle(entry_, this, HandleKind::request);
        return reinterpret_cast<ucd_request_t>(this);
    }

    // Success or the first failure, which becomes this thread's last error.
    Status outcome() const noexcept {
        if (!outcome_.ok()) last_error() = error_;
        return outcome_;
    }
    bool failed() const noexcept { return !outcome_.ok(); }

    // Set by Progress when it no longer refers to the operation. From then on, only the owner uses
    // it.
    bool done() const noexcept { return done_.load(std::memory_order_acquire); }

    // Does a part of the work. body() returns a Status. Records failures, exceptions included.
    template <class Body>
    void attempt(Body &&body) noexcept {
        record(without_exceptions(std::forward<Body>(body)));
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
    std::size_t part_ = 0; // index of the lists that it may be in
    Status outcome_;
    // Stored with the status, because the failure may have occurred in another thread.
    LastError error_;
    std::atomic<bool> done_{false};
    HandleEntry entry_;
};

// Types that work in progress uses. The user may free them at any time.
class KeptTypes {
public:
    void add(const Type &type) {
        if (!types_.empty() && types_.back().get() == &type) return;
        types_.push_back(nullptr); // allocates first, so that nothing fails after the reference is
                                   // taken
        retain(type);
        types_.back().reset(&type);
    }
    void add(const KeptTypes &others) {
        for (const ConstTypeOwner &type : others.types_) add(*type);
    }
    bool empty() const { return types_.empty(); }

private:
    ShortList<ConstTypeOwner> types_;
};

// Operations in the order in which they were added. Never allocates.
class AsyncOperationList {
public:
    bool empty() const { return first_ == nullptr; }
    AsyncOperation *first() const { return first_; }
    static AsyncOperation *after(const AsyncOperation &operation) { return operation.next_; }
    void add(AsyncOperation &operation);
    void remove(AsyncOperation &operation);
    // Appends all operations of another list to this one.
    void take(AsyncOperationList &other);

private:
    AsyncOperation *first_ = nullptr, *last_ = nullptr;
};

// The outstanding work of a context.
class Progress {
public:
    explicit Progress(StagingSizes sizes = {}) : pools_(sizes), list_pools_(sizes) {}
    // Waits until all work is done. No other thread may use the object then.
    ~Progress();

    ChunkPools &pools() { return pools_; }
    // Chunks for lists of indices that are copied for an executor. Work that holds one of these may
    // wait for a chunk of the other pools, but never the other way round, so there is no deadlock.
    ChunkPools &list_pools() { return list_pools_; }

    void add(AsyncOperation &operation) noexcept;

    // For a call that waits for its own operation, which is complete when the call returns. It is
    // listed only if it is staged, so that other threads advance it, too.
    void complete(AsyncOperation &operation) noexcept;

    // Advances this operation and all staged ones. Returns whether this one is done; only the
    // caller uses it then. Only one thread at a time may test an operation.
    bool test(AsyncOperation &operation) noexcept;
    void wait(AsyncOperation &operation) noexcept;

private:
    void progress_direct(AsyncOperation &operation) noexcept;
    bool complete_all_direct() noexcept;
    void progress_staged() noexcept;

    ChunkPools pools_, list_pools_;

    // Operations without chunks are advanced by their owners, without a lock. They are listed so
    // that the context can complete them at its end; each thread has a list for what it starts.
    struct Direct {
        std::mutex mutex;
        AsyncOperationList list;
    };
    PerThread<Direct> direct_;

    // Any thread in ucd_test or ucd_wait advances staged operations, oldest first. A pass may copy
    // data, so new operations are added to a list of their own, whose lock is held briefly.
    std::mutex pass_mutex_;
    AsyncOperationList staged_;
    std::mutex incoming_mutex_;
    AsyncOperationList incoming_;
    std::atomic<std::size_t> staged_count_{0};
};

// Ends a call: lists its work as outstanding and sets the user's request, or waits for the work if
// there is no request.
Status end_call_with(Context &context, std::unique_ptr<AsyncOperation> operation,
                     ucd_request_t *request) noexcept;
// Same. Null is work that is done.
[[gnu::always_inline]] inline Status
end_call(Context &context, std::unique_ptr<AsyncOperation> operation, ucd_request_t *request) {
    if (operation != nullptr) return end_call_with(context, std::move(operation), request);
    if (request != nullptr) *request = UCD_REQUEST__NULL;
    return success;
}

} // namespace ucd
