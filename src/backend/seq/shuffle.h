// Lanes of two vectors, in any order.
#pragma once

#include "leaves.h"

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {

// Takes lanes from a and b; those of b are counted on from those of a. By reference, since how
// vectors are passed by value depends on the instruction set.
template <unsigned... lane, typename Vector>
UCD_SEQ_INLINE void shuffle(const Vector &a, const Vector &b, Vector &result) {
#if defined(__clang__) || __GNUC__ >= 12
    result = __builtin_shufflevector(a, b, static_cast<int>(lane)...);
#else
    result = __builtin_shuffle(a, b, Vector{lane...});
#endif
}

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
