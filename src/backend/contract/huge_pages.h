// Advice to the system that reduces page faults for memory of many megabytes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace ucd {

// The least size for which the advice pays.
inline constexpr std::size_t min_huge_list = std::size_t{4} << 20;

// Gives advice about the whole huge pages in a range of memory. Results do not depend on whether
// the system follows it.
inline void advise_huge_pages(const void *memory, std::size_t bytes, int advice) noexcept {
    constexpr uintptr_t page = uintptr_t{2} << 20;
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
    if (first < last) (void)madvise(reinterpret_cast<void *>(first), last - first, advice);
}

// For newly allocated memory, before it is written.
inline void prefer_huge_pages(const void *memory, std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
    if (bytes >= min_huge_list) advise_huge_pages(memory, bytes, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

} // namespace ucd
