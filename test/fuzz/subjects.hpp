// The subjects of a program of constructors, and what the bytes behind the program choose.
#pragma once

#include "program.hpp"

#include "support/moves/converting.hpp"
#include "support/moves/reducing.hpp"

#include <optional>
#include <span>

namespace ucdtest::fuzz {

// A case whose random numbers (contents, forms of calls) follow from the input.
Case case_of(const char *name, const std::uint8_t *data, std::size_t size);

// At most `most` elements of the type, so many that they stay within bounds.
std::size_t count_of(Input &input, const ProgramType &type, std::size_t most);
Subject subject_of(Case &one, const ProgramType &type, std::size_t count, const char *role);

// An op that the type supports; REPLACE if the one that is chosen is not supported, or values would
// not be values.
ucd_op_t op_of(Input &input, const ReducedSubject &what);

// Makes the same source again, and a target for its elements; nothing if these cannot be converted.
std::optional<ConvertedPair> converted_pair(Case &one, const ProgramType &type,
                                            const ReducedSubject &what);

// A range of the stream, of whole elements if it is to be reduced: numbers of bytes, or of
// elements.
struct StreamRange {
    std::size_t first, last;
};
StreamRange range_of(Input &input, std::size_t units);

// The same bytes of memory under another handle, by which all is asked for again.
void check_bounds(Case &one, const Subject &subject, ucd_type_t type);

} // namespace ucdtest::fuzz
