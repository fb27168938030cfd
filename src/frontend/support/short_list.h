// A list that usually has one entry, or at most N, for which it does not allocate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace ucd {

template <class T, std::size_t N = 1>
class ShortList {
public:
    ShortList() = default;
    ShortList(const ShortList &) = default;
    ShortList &operator=(const ShortList &) = default;
    ShortList(ShortList &&other) noexcept { *this = std::move(other); }
    ShortList &operator=(ShortList &&other) noexcept {
        few_ = std::move(other.few_);
        many_ = std::move(other.many_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *begin() { return size_ <= N ? few_.data() : many_.data(); }
    T *end() { return begin() + size_; }
    const T *begin() const { return size_ <= N ? few_.data() : many_.data(); }
    const T *end() const { return begin() + size_; }
    T &back() { return end()[-1]; }
    std::size_t allocated_bytes() const { return many_.capacity() * sizeof(T); }
    std::span<const T> span() const { return {begin(), size_}; }

    // Adding up to this many entries in all does not allocate.
    void reserve(std::size_t entries) {
        if (entries > N) many_.reserve(entries);
    }
    T &push_back(T entry) {
        if (size_ < N)
            few_[size_] = std::move(entry);
        else
            push_to_many(std::move(entry));
        ++size_;
        return back();
    }
    void pop_back() {
        if (size_ <= N) {
            few_[size_ - 1] = {};
        } else if (size_ == N + 1) {
            std::move(many_.begin(), many_.end() - 1, few_.begin());
            many_.clear();
        } else {
            many_.pop_back();
        }
        --size_;
    }
    void clear() {
        few_ = {};
        many_.clear();
        size_ = 0;
    }

private:
    void push_to_many(T entry) {
        if (size_ == N) {
            many_.reserve(N + 1);
            for (T &e : few_) many_.push_back(std::move(e));
        }
        many_.push_back(std::move(entry));
    }

    std::array<T, N> few_{};
    std::vector<T> many_; // all entries, if there are more than N
    std::size_t size_ = 0;
};

} // namespace ucd
