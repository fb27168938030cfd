// First in, first out, through T::next: so it takes no memory.
#pragma once

#include <utility>

namespace ucd_ucx {

// Of elements that are somebody else's, and in one queue at a time.
template <class T>
class Queue {
public:
    Queue() = default;
    Queue(Queue &&other) noexcept { *this = std::move(other); }
    // What was here is not in any queue then.
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
    // So that it is the next one.
    void push_front(T &element) {
        element.next = first_;
        if (first_ == nullptr) last_ = &element;
        first_ = &element;
    }
    // Not of an empty one.
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
