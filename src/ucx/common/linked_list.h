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
    T *before_ = nullptr, *after_ = nullptr;
};

// Does not own its elements.
template <class T, class Tag = void>
class LinkedList {
public:
    LinkedList() = default;
    LinkedList(const LinkedList &) = delete;
    LinkedList &operator=(const LinkedList &) = delete;

    bool empty() const { return first_ == nullptr; }
    std::size_t size() const { return size_; }
    T &front() const { return *first_; }
    static bool has_list(const T &element) { return link(element).list_ != nullptr; }

    // Puts an element, which is in no list, at the end, or at the beginning.
    void push(T &element) { insert(element, last_, nullptr); }
    void push_front(T &element) { insert(element, nullptr, first_); }
    T &pop() {
        T &element = *first_;
        remove(element);
        return element;
    }
    // Removes the element from the list that it is in, if any.
    static void remove(T &element) {
        Linked<T, Tag> &its = link(element);
        LinkedList *const list = std::exchange(its.list_, nullptr);
        if (list == nullptr) return;
        (its.before_ == nullptr ? list->first_ : link(*its.before_).after_) = its.after_;
        (its.after_ == nullptr ? list->last_ : link(*its.after_).before_) = its.before_;
        --list->size_;
    }

private:
    static Linked<T, Tag> &link(T &element) { return element; }
    static const Linked<T, Tag> &link(const T &element) { return element; }
    void insert(T &element, T *before, T *after) {
        Linked<T, Tag> &its = link(element);
        its.list_ = this;
        its.before_ = before;
        its.after_ = after;
        (before == nullptr ? first_ : link(*before).after_) = &element;
        (after == nullptr ? last_ : link(*after).before_) = &element;
        ++size_;
    }

    T *first_ = nullptr, *last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace ucd_ucx
