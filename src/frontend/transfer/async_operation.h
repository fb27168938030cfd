// Work that goes on after its call has returned, and the handle that users know it by.
#pragma once

#include "status.h"
#include "support/exception_status.h"
#include "types/type.h"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

namespace ucd {

class Context;

// Its address is the request handle, so that handing it out allocates nothing and cannot fail.
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
        types_.emplace_back();
        retain(type);
        types_.back().reset(&type);
    }
    void add(const KeptTypes &others) {
        for (const ConstTypeOwner &type : others.types_) add(*type);
    }
    void reserve(std::size_t count) { types_.reserve(count); }
    void clear() { types_.clear(); }

private:
    std::vector<ConstTypeOwner> types_;
};

// Makes the work outstanding, and its address the user's request. Null stays null.
ucd_request_t hand_out(Context &context, std::unique_ptr<AsyncOperation> operation) noexcept;

// For calls that block: waits until the work is done. Null is done.
Status finish(Context &context, std::unique_ptr<AsyncOperation> operation) noexcept;

} // namespace ucd
