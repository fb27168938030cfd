// An intrusive list whose elements leave it in constant time: it never allocates.
#pragma once

#include <cstddef>
#include <utility>

namespace ucd_ucx {

template <class T, class Tag>
class LinkedList;

// The base class of elements: their place in a list. An element can be in one list of each Tag.
template <class T, class Tag = void>
class Linked {
public:
    Linked() = default;
    Linked(const Linked &) = delete;
    Linked &operator=(const Linked &) = delete;

protected:
    ~Linked() = default;

private:
    friend class LinkedList<T, Tag>;
    LinkedList<T, Tag> *list_ = nullptr;
    Linked *before_ = this, *after_ = this;
};

// Does not own its elements. They and the list's own place form a ring.
template <class T, class Tag = void>
class LinkedList {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T &front() const { return static_cast<T &>(*ends_.after_); }
    static bool has_list(const Linked<T, Tag> &element) { return element.list_ != nullptr; }

    // Puts an element, which is in no list, at the end, or at the beginning.
    void push(Linked<T, Tag> &element) { insert(element, *ends_.before_); }
    void push_front(Linked<T, Tag> &element) { insert(element, ends_); }
    T &pop() {
        T &element = front();
        remove(element);
        return element;
    }
    // Removes the element from the list that it is in, if any.
    static void remove(Linked<T, Tag> &element) {
        if (element.list_ == nullptr) return;
        --std::exchange(element.list_, nullptr)->size_;
        element.before_->after_ = element.after_;
        element.after_->before_ = element.before_;
    }

private:
    void insert(Linked<T, Tag> &element, Linked<T, Tag> &before) {
        element.list_ = this;
        element.before_ = &before;
        element.after_ = before.after_;
        before.after_->before_ = &element;
        before.after_ = &element;
        ++size_;
    }

    Linked<T, Tag> ends_;
    std::size_t size_ = 0;
};

} // namespace ucd_ucx
