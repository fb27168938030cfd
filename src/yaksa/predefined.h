// The UCD types of yaksa's predefined types.
#pragma once

#include <array>
#include <cstdint>
#include <ucd.h>

namespace ucd_yaksa {

struct Predefined {
    ucd_type_t type;
    // The lowest handle of the same representation: yaksa treats such types as the same type.
    std::uint8_t identity;
    std::uint8_t alignment;
    // The two members of a pair; otherwise UCD_TYPE__NULL.
    ucd_type_t members[2];
};

// Indexed by handle. Index 0 is the empty type, for which there is no UCD type.
inline constexpr std::size_t predefined_count = 57;
extern const std::array<Predefined, predefined_count> predefined_types;

} // namespace ucd_yaksa
