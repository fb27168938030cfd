// Lists that are longer than the parts in which they are looked at.
#include "support/catch.hpp"

#include <ucd.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace long_lists_test {

TEST_CASE("parts of a list that are empty do not count") {
    constexpr std::size_t entries = 5000, part = 1024;
    // Small displacements, and such as need more than 64 bits to be summed.
    for (const std::intptr_t first : {std::intptr_t{1000}, std::intptr_t{1} << 58})
        for (const std::intptr_t sign : {1, -1})
            for (std::size_t empty = 0; empty + part <= entries; empty += part) {
                std::vector<std::intptr_t> lengths(entries), displs(entries);
                for (std::size_t i = 0; i < entries; ++i) {
                    const bool counts = i < empty || i >= empty + part;
                    lengths[i] = counts ? 1 + static_cast<std::intptr_t>(i % 2) : 0;
                    displs[i] = sign * (first + 10 * static_cast<std::intptr_t>(i * 7 % entries));
                    // Of no meaning, but it tells how the part is summed.
                    if (!counts) displs[i] = i % 2 == 0 ? first : -first;
                }
                std::intptr_t low = INTPTR_MAX, high = INTPTR_MIN;
                for (std::size_t i = 0; i < entries; ++i) {
                    if (lengths[i] == 0) continue;
                    low = std::min(low, displs[i]);
                    high = std::max(high, displs[i] + lengths[i]);
                }
                INFO("from " << sign * first << ", entries " << empty << " to " << empty + part);
                const ucd::Type type = ucd::Type::hindexed(lengths, displs, UCD_TYPE__BYTE);
                CHECK(type.extent().lb == low);
                CHECK(type.extent().extent == high - low);
                CHECK(type.true_extent().lb == low);
                CHECK(type.true_extent().extent == high - low);
            }
}

} // namespace long_lists_test
