// Properties of lists, found in one pass that needs no memory.
#pragma once

#include "layout.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd {

// The step to entry i from the one before; it wraps.
inline int64_t step_to(std::span<const int64_t> displs, std::size_t i) {
    return step_between(displs[i - 1], displs[i]);
}

// Of every `apart`-th entry: the greatest common divisor of the lengths of the maximal runs of
// entries that are `by` apart.
std::size_t common_run(std::span<const int64_t> displs, int64_t by, std::size_t apart = 1);

struct ListLook {
    std::size_t steps = 0; // number of steps that are equal to the given one
    int64_t least = 0, most = 0;
};

// Counts the entries that lie `step` after the one before (differences wrap), and finds the least
// and the greatest entry. The list must not be empty.
ListLook look_at(std::span<const int64_t> displs, int64_t step);

// Only counts the steps.
std::size_t count_steps(std::span<const int64_t> displs, int64_t step);

// False only if no single step makes up three quarters of the list's steps. Stops as soon as that
// is certain, after about half of a list without order.
bool may_have_frequent_step(std::span<const int64_t> displs);

// Properties of a list of lengths, which is given as prefix sums with one additional entry.
struct LengthLook {
    bool uniform = true; // all are equal
    uint64_t bits = 0;   // its lowest set bit is that of all lengths; 0 if uniform
};
LengthLook look_at_lengths(std::span<const uint64_t> first);

} // namespace ucd
