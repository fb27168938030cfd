// Lists of displacements as their user gave them, which are written in the form that kernels read
// into the memory that they are uploaded from.
#pragma once

#include "layout.h"

#include <cstddef>
#include <cstdint>

namespace ucd::gpu {

// The unit in which kernels get the displacements in 32 bits, or 0 if they get them in bytes, with
// 64 bits. `node` has the list.
uint32_t unit_for(const GivenList &list, const Node &node);

inline std::size_t bytes_of(const GivenList &list, uint32_t unit) {
    return list.entries.size() * (unit > 0 ? sizeof(int32_t) : sizeof(int64_t));
}
void write_list(const GivenList &list, uint32_t unit, char *to);

} // namespace ucd::gpu
