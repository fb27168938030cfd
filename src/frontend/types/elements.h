// Counts predefined elements in packed streams as MPI_Get_elements does (MPI-4.1 5.1.11): the two
// parts of a pair are two elements. No layout is made for it.
#pragma once

#include "types/type.h"

#include <cstdint>

namespace ucd {

// The bytes of a pair's first part; 0 if the element is no pair.
constexpr uint32_t first_part(Element e) {
    switch (e) {
    case Element::float32_int32:
    case Element::float64_int32:
    case Element::int64_int32:
    case Element::int32_int32:
    case Element::int16_int32:
    case Element::x87_80_int32:
    case Element::binary128_int32: return packed_size(e) - packed_size(Element::int32);
    case Element::float32_float32:
    case Element::float64_float64: return packed_size(e) / 2;
    default: return 0;
    }
}

constexpr unsigned elements_in(Element e) {
    return first_part(e) > 0 ? 2 : 1;
}

// Keeps the place of every 64th member of a structure of mixed elements. Its members and size have
// been set.
void keep_member_places(StructureType &structure);

// The number of whole elements in the first `bytes` of the packed stream of the type, which is
// repeated as often as it takes. The time grows with the depth of the type, and with the logarithm
// of its structures' members.
uint64_t elements_before(const Type &type, uint64_t bytes);

} // namespace ucd
