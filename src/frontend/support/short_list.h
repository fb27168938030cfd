// A list that usually has one entry, for which it does not allocate.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace ucd {

template <class T>
class ShortList {
public:
    ShortList() = default;
    ShortList(const ShortList &) = default;
    ShortList &operator=(const ShortList &) = default;
    ShortList(ShortList &&other) noexcept { *this = std::move(other); }
    ShortList &operator=(ShortList &&other) noexcept {
        first_ = std::move(other.first_);
        many_ = std::move(other.many_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *begin() { return size_ == 1 ? &first_ : many_.data(); }
    T *end() { return begin() + size_; }
    const T *begin() const { return size_ == 1 ? &first_ : many_.data(); }
    const T *end() const { return begin() + size_; }
    T &back() { return end()[-1]; }
    std::span<const T> span() const { return {begin(), size_}; }

    // Adding up to this many entries in all does not allocate.
    void reserve(std::size_t entries) {
        if (entries > 1) many_.reserve(entries);
    }
    T &push_back(T entry) {
        if (size_ == 0) {
            first_ = std::move(entry);
        } else {
            if (size_ == 1) {
                many_.reserve(2);
                many_.push_back(std::move(first_));
            }
            many_.push_back(std::move(entry));
        }
        ++size_;
        return back();
    }
    void pop_back() {
        if (size_ == 1)
            first_ = T();
        else if (size_ == 2) {
            first_ = std::move(many_.front());
            many_.clear();
        } else
            many_.pop_back();
        --size_;
    }
    void clear() {
        first_ = T();
        many_.clear();
        size_ = 0;
    }

private:
    T first_{};
    std::vector<T> many_; // all entries, if there is more than one
    std::size_t size_ = 0;
};

} // namespace ucd
