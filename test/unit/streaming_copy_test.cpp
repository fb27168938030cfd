// Copies past the caches, from and to any place, of any length.
#include "support/catch.hpp"

#include "transfer/streaming_copy.h"

#include <algorithm>
#include <vector>

TEST_CASE("streaming copies move what they should and touch nothing else") {
    constexpr std::size_t room = 512;
    std::vector<char> from(room), to(room);
    for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<char>(i * 7 + i / 251 + 1);
    for (std::size_t at = 0; at < 70; ++at)
        for (std::size_t start = 0; start < 70; start += 3)
            for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 200, 320}) {
                std::fill(to.begin(), to.end(), '\0');
                ucd::streaming_copy(&to[at], &from[start], bytes);
                bool right = true;
                for (std::size_t i = 0; i < room; ++i) {
                    const bool inside = at <= i && i < at + bytes;
                    right = right && to[i] == (inside ? from[start + i - at] : '\0');
                }
                REQUIRE(right);
            }
}
