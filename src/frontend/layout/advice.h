// How data of a layout is best sent: from where it lies, by a copy engine, or packed.
#pragma once

#include "layout.h"
#include "types/type.h"

#include <string>

namespace ucd {

// From which size on segments are listed, and how many at most. How the defaults were found:
// docs/internals/decisions/0011-advice.md.
struct AdviceLimits {
    uint64_t min_segment = 1024; // bytes on average that make up for handling an entry
    uint64_t max_entries = 1024; // that one writev takes
};

struct Advice {
    uint32_t form; // UCD_FORM__*
    uint64_t segments, mean_segment;
};

// The one decision, for `count` of a type that has this layout.
Advice advise(const Type &type, const Layout &layout, uint64_t count, const AdviceLimits &limits);

// Advice on one of the type, in words: "iov: 16 segments of 4096 bytes: ...".
std::string advice_text(const Type &type, const Layout &layout);

} // namespace ucd
