// From a type to its canonical layouts.
#pragma once

#include "layout.h"
#include "types/type.h"

#include <string>
#include <vector>

namespace ucd {

// How a type became its layout, constructor by constructor from the innermost on.
struct LoweringStep {
    Combiner combiner;
    std::vector<const char *> rewrites; // that were applied, in order, each once
    std::string result;                 // the layout so far, as to_text words it
};
struct LoweringTrace {
    static constexpr std::size_t most = 64;
    std::vector<LoweringStep> steps; // the first ones
    std::size_t count = 0;           // of all
};

// Where the type's bytes lie in memory, whatever they are. What the type only implies is written
// out as long as the layout takes no more than `max_bytes`. `trace`, if given, receives the steps
// that led there.
Layout lower_to_layout(const Type &type, uint64_t max_bytes, LoweringTrace *trace = nullptr);

// What the type's packed stream is made of: the layout of that stream over itself, its blocks
// marked with their element.
Layout lower_to_elements(const Type &type, uint64_t max_bytes);

// The same by handles, as segments: of a packed stream in which the elements of each handle are
// shifted by a distance of their own. Elements then touch only those of the same handle, so the
// maximal runs are the segments of the layout, and the shift of a segment is its position there
// less that in the stream.
Layout lower_to_runs(const Type &type, uint64_t max_bytes);

// What elements with that shift are: the handle, or UCD_TYPE__NULL if this machine has none for
// their representation.
struct ShiftedElement {
    ucd_type_t handle;
    uint64_t bytes;
};
ShiftedElement element_with_shift(int64_t shift);

} // namespace ucd
