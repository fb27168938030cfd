// Lowers a type to its canonical layouts.
#pragma once

#include "layout.h"
#include "layout/owned_layout.h"
#include "types/type.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ucd {

// The steps from a type to its layout, for each constructor from the innermost on.
struct LoweringStep {
    Combiner combiner;
    std::vector<const char *> rewrites; // the applied rewrites in order, without repetitions
    std::string result;                 // to_text() of the layout so far
};
struct LoweringTrace {
    static constexpr std::size_t most = 64;
    std::vector<LoweringStep> steps; // the first `most` steps
    std::size_t count = 0;           // number of all steps
};

// What a layout lists, in the order of the packed stream.
enum class Lower : uint8_t {
    // The type's bytes in memory, regardless of their elements.
    bytes,
    // The packed stream over itself: its blocks are marked with their elements.
    elements,
    // The runs of handles in the packed stream, as segments: the layout of a packed stream in which
    // the elements of each handle are shifted by a distance of their own. Elements then touch only
    // those of the same handle, so the maximal runs are the segments of the layout. The shift of a
    // segment is its displacement there minus its offset in the stream.
    runs,
};

// Lowers a type to its canonical layout. Implied lists are expanded as long as the layout takes no
// more than `max_bytes`. `trace`, if given, receives the steps.
OwnedLayout lower(const Type &type, Lower what, uint64_t max_bytes, LoweringTrace *trace = nullptr);

// The elements that have this shift: their handle, or UCD_TYPE__NULL if this machine has none for
// their representation.
struct ShiftedElement {
    ucd_type_t handle;
    uint64_t bytes;
};
ShiftedElement element_with_shift(int64_t shift);

} // namespace ucd
