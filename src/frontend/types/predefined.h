// The table of predefined types.
#pragma once

#include "types/type.h"

#include <string_view>

namespace ucd {

inline constexpr unsigned predefined_count = 62;

// The static Type of a predefined handle value, 1 to predefined_count. Valid after
// make_predefined_types().
const Type &predefined_type(unsigned value);
void make_predefined_types();

// The handle's name in lower case, as used in type expressions: "double", "2int".
std::string_view predefined_name(unsigned value);

// The predefined handle value for a representation: the first in the table that has it, or 0.
unsigned predefined_with(Element element);

// The memory of one element. If padding splits the element in two (SHORT_INT), its first piece has
// first_bytes, and the second starts at second_at and ends the element.
struct ElementPieces {
    uint32_t first_bytes, second_bytes, second_at;
};
ElementPieces pieces_of(Element element);

} // namespace ucd
