// Things that are used again and again. The one that was given back last is taken next: what it has
// of memory may still be in a cache.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace ucd {

template <class T>
class FreeList {
public:
    FreeList() = default;
    FreeList(const FreeList &) = delete;
    FreeList &operator=(const FreeList &) = delete;

    // Makes room for so many things. One that is given back and has no room is destroyed.
    void reserve(std::size_t things) {
        const std::lock_guard lock(mutex_);
        things_.reserve(things);
    }
    // False if there is none.
    bool take(T &thing) {
        const std::lock_guard lock(mutex_);
        if (things_.empty()) return false;
        thing = std::move(things_.back());
        things_.pop_back();
        return true;
    }
    void give_back(T thing) noexcept {
        const std::lock_guard lock(mutex_);
        if (things_.size() < things_.capacity()) things_.push_back(std::move(thing));
    }

private:
    std::mutex mutex_;
    std::vector<T> things_;
};

} // namespace ucd
