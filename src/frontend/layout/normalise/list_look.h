// What a list of displacements is, found in one look that needs no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ucd {

struct ListLook {
    std::size_t steps = 0; // that are equal to the one in question
    int64_t least = 0, most = 0;
};

// How many entries lie `step` behind the one before (sums wrap), and how far the list reaches. It
// has one entry at least.
ListLook look_at(std::span<const int64_t> displs, int64_t step);

// The first of these alone.
std::size_t count_steps(std::span<const int64_t> displs, int64_t step);

// False only if no three quarters of a list's steps are equal. Stops as soon as that is certain,
// after about half of a list without order.
bool may_have_frequent_step(std::span<const int64_t> displs);

// What is to be known of lists of lengths, given as prefix sums of one entry more.
struct LengthLook {
    bool uniform = true; // all are equal
    uint64_t bits = 0;   // the lowest bit of all lengths, and some others; 0 if they are uniform
};
LengthLook look_at_lengths(std::span<const uint64_t> first);

} // namespace ucd
