// Recommends how to send data of a layout: as it is, as a list of segments, by a copy engine, or
// packed.
#pragma once

#include "layout.h"
#include "types/type.h"

#include <string>

namespace ucd {

// The least mean size and the maximum number of segments for which a list of segments is
// recommended. docs/internals/decisions/types-and-layouts.md says how the defaults were found.
struct AdviceLimits {
    uint64_t min_segment = 1024; // mean bytes that outweigh the cost of an entry
    uint64_t max_entries = 1024; // the limit of writev
};

struct Advice {
    uint32_t form; // UCD_FORM__*
    uint64_t segments, mean_segment;
};

// The advice for `count` elements of a type that has this layout. The only place where it is
// decided.
Advice advise(const Type &type, const Layout &layout, uint64_t count, const AdviceLimits &limits);

// The advice for one element as text: "iov: 16 segments of 4096 bytes: ...".
std::string advice_text(const Type &type, const Layout &layout);

} // namespace ucd
