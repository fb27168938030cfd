// Computes the displacements of a list in the form that layouts use.
#pragma once

#include "layout.h"
#include "support/list_memory.h"
#include "types/lists.h"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

// The displacements in bytes, relative to the first; the list must not be empty. Calls use() for
// each part while it is in a cache, with the last displacement of the part before in front.
template <class Use>
std::vector<int64_t> displacements_from_first(const TypeLists &lists, Use use) {
    const std::span<const int64_t> all = lists.displs();
    std::vector<int64_t> displs = take_list<int64_t>(all.size());
    std::array<int64_t, 256> part;
    const std::size_t count = all.size();
    const auto first = static_cast<uint64_t>(all[0]);
    const auto unit = static_cast<uint64_t>(lists.unit());
    for (std::size_t i = 0; i < count; i += part.size()) {
        const std::size_t size = std::min(part.size(), count - i);
        const int64_t *const from = all.data() + i;
        const auto make = [&](auto times) {
            for (std::size_t k = 0; k < size; ++k)
                part[k] = static_cast<int64_t>(times(static_cast<uint64_t>(from[k]) - first));
        };
        // Compilers vectorise shifts, but on many processors not 64-bit multiplications.
        if (std::has_single_bit(unit))
            make([shift = std::countr_zero(unit)](uint64_t n) { return n << shift; });
        else
            make([unit](uint64_t n) { return n * unit; });
        displs.insert(displs.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size));
        use(std::span<const int64_t>(displs).subspan(i > 0 ? i - 1 : 0));
    }
    return displs;
}

} // namespace ucd
