// Size, bounds and true bounds by MPI-4.1 5.1.6 and 5.1.7, from the blocks that a constructor
// places.
#pragma once

#include "status.h"
#include "types/type.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace ucd {

// Wide enough for any product or sum of two 64-bit numbers, so that overflow can be found by
// comparing.
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// The least interval around others.
template <class Number>
struct Interval {
    Number low = 0, high = 0;
    bool any = false;

    void include(Number from, Number to) {
        low = any ? std::min(low, from) : from;
        high = any ? std::max(high, to) : to;
        any = true;
    }
};

// Collects the blocks of a type under construction, then computes what follows from them.
class Bounds {
public:
    // Of a type whose properties have not been set.
    explicit Bounds(Type &type) : type_(type) {}

    // `count` equal blocks of `blocklength` children, the child's extent apart. Their displacements
    // are in [`lowest`, `highest`], both of which occur. The displacements between do not matter.
    void add_many(int128 lowest, int128 highest, int64_t count, int64_t blocklength,
                  const Type &child);

    // The children of nested strides, the first displaced by `displacement`.
    void add_nest(int128 displacement, std::span<const StrideLevel> levels, const Type &child);

    // `children` >= 0 children in all, whose origins are in [`lowest`, `highest`].
    void add_range(int128 lowest, int128 highest, uint128 children, const Type &child);

    // Sets explicit bounds, which replace those that follow from the blocks.
    void set(int128 lb, int128 ub);

    // Fills in the properties of the type; OVERFLOW if a value does not fit.
    Status settle();

private:
    Type &type_;
    Interval<int128> data_, marked_;
    bool too_large_ = false, any_elements_ = false;
};

} // namespace ucd
