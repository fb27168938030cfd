#include "transfer/progress.h"

#include "transfer/context.h"

#include <thread>

namespace ucd {

void AsyncOperationList::add(AsyncOperation &operation) {
    operation.previous_ = last_;
    operation.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &operation;
    last_ = &operation;
}

void AsyncOperationList::remove(AsyncOperation &operation) {
    AsyncOperation *before = operation.previous_, *behind = operation.next_;
    (before != nullptr ? before->next_ : first_) = behind;
    (behind != nullptr ? behind->previous_ : last_) = before;
}

void AsyncOperationList::take(AsyncOperationList &other) {
    if (other.empty()) return;
    other.first_->previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = other.first_;
    last_ = other.last_;
    other.first_ = other.last_ = nullptr;
}

void Progress::add(AsyncOperation &operation) noexcept {
    if (operation.staged()) {
        const std::lock_guard lock(incoming_mutex_);
        incoming_.add(operation);
        staged_count_.fetch_add(1, std::memory_order_relaxed);
    } else {
        operation.part_ = own_thread_part();
        Direct &direct = direct_[operation.part_];
        const std::lock_guard lock(direct.mutex);
        direct.list.add(operation);
    }
}

void Progress::progress_direct(AsyncOperation &operation) noexcept {
    if (!operation.progress()) return;
    {
        Direct &direct = direct_[operation.part_];
        const std::lock_guard lock(direct.mutex);
        direct.list.remove(operation);
    }
    operation.done_.store(true, std::memory_order_release);
}

void Progress::progress_staged() noexcept {
    // If another thread is advancing the work already, there is nothing to add.
    const std::unique_lock pass(pass_mutex_, std::try_to_lock);
    if (!pass.owns_lock()) return;
    {
        const std::lock_guard lock(incoming_mutex_);
        staged_.take(incoming_);
    }
    for (AsyncOperation *operation = staged_.first(); operation != nullptr;) {
        AsyncOperation *next = AsyncOperationList::after(*operation);
        if (operation->progress()) {
            staged_.remove(*operation);
            staged_count_.fetch_sub(1, std::memory_order_relaxed);
            // After this, the owner may delete the operation.
            operation->done_.store(true, std::memory_order_release);
        }
        operation = next;
    }
}

bool Progress::test(AsyncOperation &operation) noexcept {
    if (operation.done()) return true;
    if (!operation.staged()) progress_direct(operation);
    if (staged_count_.load(std::memory_order_relaxed) > 0) progress_staged();
    return operation.done();
}

namespace {

// Polls a few times first, because devices usually answer within microseconds, and then yields to
// other threads.
template <class IsDone>
void look_until(IsDone is_done) {
    constexpr unsigned looks = 64;
    for (unsigned look = 0; !is_done(); ++look)
        if (look >= looks) std::this_thread::yield();
}

} // namespace

void Progress::wait(AsyncOperation &operation) noexcept {
    look_until([&] { return test(operation); });
}

void Progress::complete(AsyncOperation &operation) noexcept {
    if (operation.staged()) {
        add(operation);
        return wait(operation);
    }
    look_until([&] {
        if (operation.progress()) return true;
        if (staged_count_.load(std::memory_order_relaxed) > 0) progress_staged();
        return false;
    });
}

// Returns whether nothing is left.
bool Progress::complete_all_direct() noexcept {
    bool none = true;
    direct_.for_each([&](Direct &direct) {
        for (AsyncOperation *operation = direct.list.first(); operation != nullptr;) {
            AsyncOperation *next = AsyncOperationList::after(*operation);
            progress_direct(*operation);
            operation = next;
        }
        none = none && direct.list.empty();
    });
    return none;
}

Progress::~Progress() {
    while (!complete_all_direct() || staged_count_.load(std::memory_order_relaxed) > 0) {
        progress_staged();
        std::this_thread::yield();
    }
}

Status end_call_with(Context &context, std::unique_ptr<AsyncOperation> operation,
                     ucd_request_t *request) noexcept {
    if (request == nullptr) {
        context.progress->complete(*operation);
        return operation->outcome();
    }
    context.progress->add(*operation);
    *request = operation.release()->handle();
    return success;
}

} // namespace ucd
