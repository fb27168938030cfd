// Size, bounds and true bounds by MPI-4.1 5.1.6 and 5.1.7, from the blocks that a constructor
// places.
#pragma once

#include "status.h"
#include "types/type.h"

namespace ucd {

// Wide enough for any product or sum of two 64-bit numbers, so that overflow can be found by
// comparing.
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// Collects the blocks of a type under construction, then computes what follows from them.
class Bounds {
public:
    // `blocklength` >= 0 children, the child's extent apart, the first displaced by `displacement`.
    void add(int128 displacement, int64_t blocklength, const Type &child);

    // `count` equal blocks whose displacements are in [`lowest`, `highest`], both of which occur.
    // The displacements between do not matter.
    void add_many(int128 lowest, int128 highest, int64_t count, int64_t blocklength,
                  const Type &child);

    // `children` >= 0 children in all, whose origins are in [`lowest`, `highest`].
    void add_range(int128 lowest, int128 highest, uint128 children, const Type &child);

    // Sets explicit bounds, which replace those that follow from the blocks.
    void set(int128 lb, int128 ub);

    // Fills in size, bounds, elements, alignment and ops of `type`; OVERFLOW if a value does not
    // fit.
    Status settle(Type &type) const;

private:
    struct Interval {
        int128 low = 0, high = 0;
        bool any = false;
        void include(int128 from, int128 to);
    };
    Interval data_, marked_;
    uint128 size_ = 0;
    uint64_t elements_ = 0; // at most as many as bytes
    bool too_large_ = false, unflattened_ = false, by_reference_ = false;
    uint32_t alignment_ = 1, ops_ = ~uint32_t{0}, nested_ = 0;
    Element element_ = Element::none;
    uint8_t predefined_ = 0;
    bool any_elements_ = false;
};

} // namespace ucd
