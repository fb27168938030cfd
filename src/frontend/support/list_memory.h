// Keeps the memory of long lists for later lists. For a list of displacements that is new in each
// call, faulting in fresh pages costs several times as much as reading the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucd {

// Shorter lists are left to the allocator, which reuses their memory itself.
inline constexpr std::size_t min_kept_list = std::size_t{64} << 10;
// The limit of what is kept (ucd.list_memory): half of it is for displacements and half for
// lengths. For lists of 4 MiB and more, the system may reclaim the pages when memory is short
// (MADV_FREE).
inline constexpr uint64_t default_list_memory = uint64_t{512} << 20;
void set_list_memory(uint64_t bytes) noexcept;
uint64_t list_memory() noexcept;

// An empty list with a capacity of at least `entries`. T is int64_t or uint64_t.
template <class T>
std::vector<T> take_list(std::size_t entries);

// Same, but the list may have up to `entries` entries that an earlier list has left. Who overwrites
// them saves the pass in which a vector sets new entries to 0.
template <class T>
std::vector<T> take_used_list(std::size_t entries);

// Keeps the memory of a list that is no longer needed. The list is empty afterwards.
template <class T>
void keep_list(std::vector<T> &list) noexcept;

// The memory that a list uses.
template <class T>
std::size_t bytes_of(const std::vector<T> &list) {
    return list.capacity() * sizeof(T);
}

// Frees all kept lists.
void release_kept_lists() noexcept;

// A copy of a list, in kept memory if there is a list that fits.
std::vector<int64_t> list_copy_of(const std::vector<int64_t> &list);

} // namespace ucd
