// The outstanding work of a context, and what moves it forward: there is no thread for that, only
// the calls of users who test or wait.
#pragma once

#include "request.h"
#include "staging.h"

#include <atomic>
#include <mutex>

namespace ucd {

// Operations in the order in which they were added; allocates nothing.
class OperationList {
public:
    bool empty() const { return first_ == nullptr; }
    Operation *first() const { return first_; }
    static Operation *after(const Operation &operation) { return operation.next_; }
    void add(Operation &operation);
    void remove(Operation &operation);
    // Takes all of another list to the end of this one.
    void take(OperationList &other);

private:
    Operation *first_ = nullptr, *last_ = nullptr;
};

class Progress {
public:
    explicit Progress(StagingSizes sizes = {}) : staging_(sizes) {}
    // Waits until all work is done. No other thread may be in here then.
    ~Progress();

    Staging &staging() { return staging_; }

    void add(Operation &operation) noexcept;

    // Moves this operation and all staged ones forward; whether this one is done. It is then the
    // caller's alone, to be asked for its outcome and deleted. One thread at a time per operation.
    bool test(Operation &operation) noexcept;
    void wait(Operation &operation) noexcept;

private:
    void progress_direct(Operation &operation) noexcept;
    void progress_staged() noexcept;

    Staging staging_;

    // Work without chunks is nobody's business but its owner's, who moves it forward without a
    // lock. It is listed for the end of the context only.
    std::mutex direct_mutex_;
    OperationList direct_;

    // Work with chunks is moved forward by whoever comes by, oldest first. The pass may copy data;
    // so new work is handed over through a list of its own, that nobody holds for long.
    std::mutex pass_mutex_;
    OperationList staged_;
    std::mutex incoming_mutex_;
    OperationList incoming_;
    std::atomic<std::size_t> staged_count_{0};
};

} // namespace ucd
