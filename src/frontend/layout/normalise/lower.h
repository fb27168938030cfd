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

} // namespace ucd
