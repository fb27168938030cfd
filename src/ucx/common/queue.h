// An intrusive FIFO queue, linked through T::next: it never allocates.
#pragma once

#include <utility>

namespace ucd_ucx {

// Does not own its elements. An element can be in one queue at a time.
template <class T>
class Queue {
public:
    Queue() = default;
    Queue(Queue &&other) noexcept { *this = std::move(other); }
    // The previous elements of this queue are then in no queue.
    Queue &operator=(Queue &&other) noexcept {
        first_ = std::exchange(other.first_, nullptr);
        last_ = std::exchange(other.last_, nullptr);
        return *this;
    }

    bool empty() const { return first_ == nullptr; }
    T &front() const { return *first_; }

    void push(T &element) {
        element.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &element;
        last_ = &element;
    }
    // Makes `element` the next one to be popped.
    void push_front(T &element) {
        element.next = first_;
        if (first_ == nullptr) last_ = &element;
        first_ = &element;
    }
    // Moves all elements of another queue behind those of this one.
    void splice(Queue &other) {
        if (other.empty()) return;
        (first_ == nullptr ? first_ : last_->next) = other.first_;
        last_ = std::exchange(other.last_, nullptr);
        other.first_ = nullptr;
    }
    // The queue must not be empty.
    T &pop() {
        T &element = *first_;
        first_ = element.next;
        return element;
    }

private:
    T *first_ = nullptr;
    T *last_ = nullptr;
};

} // namespace ucd_ucx
