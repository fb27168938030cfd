// Memory of long lists, which is kept for the next one: of a list of displacements that is new each
// time, fresh pages would cost several times what a look at it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucd {

// Lists of fewer bytes are left to the allocator, which keeps their memory itself.
inline constexpr std::size_t min_kept_list = std::size_t{64} << 10;
// All that is kept, half of it for displacements and half for lengths (ucd.list_memory). Pages of
// lists of 4 MiB and more are the system's to take back when it needs memory.
inline constexpr uint64_t default_list_memory = uint64_t{512} << 20;
void set_list_memory(uint64_t bytes) noexcept;
uint64_t list_memory() noexcept;

// An empty list with room for so many entries. T: int64_t, uint64_t.
template <class T>
std::vector<T> take_list(std::size_t entries);

// Takes over the memory of a list that is no longer needed, and leaves it empty.
template <class T>
void keep_list(std::vector<T> &list) noexcept;

// What a list takes.
template <class T>
std::size_t bytes_of(const std::vector<T> &list) {
    return list.capacity() * sizeof(T);
}

// Gives all that is kept back to the allocator.
void release_kept_lists() noexcept;

// A copy of an array, in kept memory if there is any.
std::vector<int64_t> list_of(const int64_t *array, std::size_t entries);

} // namespace ucd
