// yaksa's predefined types as those of ucd.h.
#pragma once

#include <array>
#include <cstdint>
#include <ucd.h>

namespace ucd_yaksa {

struct Predefined {
    ucd_type_t type;
    // The lowest handle of the same representation: yaksa takes these for one type.
    std::uint8_t identity;
    std::uint8_t alignment;
    // Of a pair, its two members; else UCD_TYPE__NULL.
    ucd_type_t members[2];
};

// By handle. The first one, the empty type, has no type here.
inline constexpr std::size_t predefined_count = 57;
extern const std::array<Predefined, predefined_count> predefined_types;

} // namespace ucd_yaksa
