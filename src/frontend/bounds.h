// Size, bounds and true bounds by MPI-4.1 5.1.6 and 5.1.7, from the blocks that a constructor
// places.
#pragma once

#include "status.h"
#include "type.h"

namespace ucd {

// Collects the blocks of a type under construction, then settles what follows from them.
class Bounds {
public:
    // `blocklength` >= 0 children, the child's extent apart, the first displaced by `displacement`.
    void add(__int128 displacement, int64_t blocklength, const Type &child);

    // The same block at many places: what matters of `count` places is how far they reach.
    void add_many(__int128 lowest, __int128 highest, int64_t count, int64_t blocklength,
                  const Type &child);

    // Bounds that a constructor sets. They stand in for what the blocks imply.
    void set(__int128 lb, __int128 ub);

    // Fills in size, bounds, elements, alignment and ops; OVERFLOW if they do not fit.
    Status settle(Type &type) const;

private:
    struct Range {
        __int128 low = 0, high = 0;
        bool any = false;
        void include(__int128 from, __int128 to);
    };
    Range data_, marked_;
    unsigned __int128 size_ = 0;
    bool too_large_ = false;
    uint32_t alignment_ = 1, ops_ = ~uint32_t{0}, nested_ = 0;
    Element element_ = Element::none;
    uint8_t predefined_ = 0;
    bool any_elements_ = false;
};

} // namespace ucd
