// Pairs of layouts with as many elements, of other types, and what a conversion between them makes.
#pragma once

#include "support/moves/reducing.hpp"
#include "support/oracle/conversion_oracle.hpp"

#include <cstddef>

namespace ucdtest {

// Element i of the target can be made of element i of the source, of which there may be fewer.
struct ConvertedPair {
    ReducedSubject source, target;
};
ConvertedPair random_converted_pair(Case &one);

// Says whether a source has elements that a conversion takes: all are real numbers, or all are
// complex.
bool can_be_converted(const ReducedSubject &source);
// A target for them, of any layout and any types.
ReducedSubject random_target(Case &one, const ReducedSubject &source);

// Writes values to the elements [first, first + count) of the source, and what they become to the
// image of the target, from element `target_first` on.
void expect_converted(const ConvertedPair &pair, const MemoryLocation &source, std::size_t first,
                      const MemoryLocation &target, std::size_t target_first, std::size_t count,
                      bool saturate);

// Converts all elements of the source in host memory, in some form of call.
void check_conversion(Case &one, const ConvertedPair &pair);

} // namespace ucdtest
