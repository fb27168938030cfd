#include "support/list_memory.h"

#include "huge_pages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>

namespace ucd {
namespace {

std::atomic<uint64_t> max_list_memory = default_list_memory;

template <class T>
class KeptLists {
public:
    // Never destroyed, because types may be freed at exit. In static storage, because ucd_finalize
    // and ucd_free need it, too, and cannot fail.
    static KeptLists &instance() noexcept {
        alignas(KeptLists) static unsigned char storage[sizeof(KeptLists)];
        static KeptLists *const kept = new (storage) KeptLists;
        return *kept;
    }

    // Takes the smallest kept list with enough room and at most an eighth more; empty if there is
    // none.
    std::vector<T> take(std::size_t entries) {
        const std::lock_guard lock(mutex_);
        std::vector<T> *best = nullptr;
        for (std::vector<T> &list : lists_)
            if (list.capacity() >= entries && list.capacity() - entries <= entries / 8 &&
                (best == nullptr || list.capacity() < best->capacity()))
                best = &list;
        std::vector<T> taken;
        if (best != nullptr) {
            bytes_ -= bytes_of(*best);
            taken.swap(*best);
        }
        return taken;
    }

    // Keeps a list. Evicts the oldest ones if there are too many lists or bytes.
    void keep(std::vector<T> &list) noexcept {
        const std::lock_guard lock(mutex_);
        const std::size_t bytes = bytes_of(list);
        do {
            next_ = (next_ + 1) % lists_.size();
            drop(lists_[next_]);
        } while (bytes_ + bytes > list_memory() / 2 && bytes_ > 0);
        lists_[next_].swap(list);
        bytes_ += bytes;
    }

    void release() noexcept {
        const std::lock_guard lock(mutex_);
        for (std::vector<T> &list : lists_) drop(list);
    }

private:
    void drop(std::vector<T> &list) noexcept {
        bytes_ -= bytes_of(list);
        std::vector<T>().swap(list);
    }

    std::mutex mutex_;
    std::array<std::vector<T>, 16> lists_;
    std::size_t next_ = 0, bytes_ = 0;
};

} // namespace

void set_list_memory(uint64_t bytes) noexcept {
    max_list_memory.store(bytes, std::memory_order_relaxed);
}

uint64_t list_memory() noexcept {
    return max_list_memory.load(std::memory_order_relaxed);
}

template <class T>
std::vector<T> take_used_list(std::size_t entries) {
    const bool is_long = entries >= min_kept_list / sizeof(T);
    std::vector<T> list;
    if (is_long) list = KeptLists<T>::instance().take(entries);
    if (list.capacity() < entries) {
        list.reserve(entries);
        prefer_huge_pages(list.data(), bytes_of(list));
    }
    if (list.size() > entries) list.resize(entries);
    return list;
}

template <class T>
std::vector<T> take_list(std::size_t entries) {
    std::vector<T> list = take_used_list<T>(entries);
    list.clear();
    return list;
}

template <class T>
void keep_list(std::vector<T> &list) noexcept {
    const std::size_t bytes = bytes_of(list);
    if (bytes < min_kept_list || bytes > list_memory() / 2) {
        std::vector<T>().swap(list);
        return;
    }
    if (bytes >= min_huge_list) advise_huge_pages(list.data(), bytes, MADV_FREE);
    KeptLists<T>::instance().keep(list);
}

template std::vector<int64_t> take_used_list(std::size_t);
template std::vector<uint64_t> take_used_list(std::size_t);
template std::vector<int64_t> take_list(std::size_t);
template std::vector<uint64_t> take_list(std::size_t);
template void keep_list(std::vector<int64_t> &) noexcept;
template void keep_list(std::vector<uint64_t> &) noexcept;

void release_kept_lists() noexcept {
    KeptLists<int64_t>::instance().release();
    KeptLists<uint64_t>::instance().release();
}

std::vector<int64_t> list_copy_of(const std::vector<int64_t> &list) {
    std::vector<int64_t> copy = take_used_list<int64_t>(list.size());
    copy.assign(list.begin(), list.end());
    return copy;
}

} // namespace ucd
