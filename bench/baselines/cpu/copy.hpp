// Copies in either direction, for the hand-written loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bench::hand {

enum class To { packed, typed };

template <To to>
[[gnu::always_inline]] inline void copy(char *typed, char *packed, std::int64_t bytes) {
    if constexpr (to == To::packed)
        std::memcpy(packed, typed, static_cast<std::size_t>(bytes));
    else
        std::memcpy(typed, packed, static_cast<std::size_t>(bytes));
}

template <To to, std::int64_t bytes>
[[gnu::always_inline]] inline void copy(char *typed, char *packed) {
    copy<to>(typed, packed, bytes);
}

} // namespace bench::hand
