// Copies in either direction, for the hand-written loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bench::hand {

enum class To { packed, laid_out };

template <To to>
[[gnu::always_inline]] inline void copy(char *laid_out, char *packed, std::int64_t bytes) {
    if constexpr (to == To::packed)
        std::memcpy(packed, laid_out, static_cast<std::size_t>(bytes));
    else
        std::memcpy(laid_out, packed, static_cast<std::size_t>(bytes));
}

template <To to, std::int64_t bytes>
[[gnu::always_inline]] inline void copy(char *laid_out, char *packed) {
    copy<to>(laid_out, packed, bytes);
}

} // namespace bench::hand
