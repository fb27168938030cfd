// A list of unused objects for reuse. The last one given back is taken first, because its memory
// may still be in a cache.
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

    // Makes room for this many objects. An object that is given back when there is no room is
    // destroyed.
    void reserve(std::size_t things) {
        const std::lock_guard lock(mutex_);
        things_.reserve(things);
    }
    // Returns false if the list is empty.
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
