// How different two words are, for messages that name the nearest known one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ucd_base {

// The number of insertions, deletions, replacements and swaps of neighbouring letters that make one
// word of the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    // The distances from the first i letters of a to the first j letters of b, indexed by j, for i,
    // i - 1 and i - 2.
    std::vector<std::size_t> now(b.size() + 1), before(b.size() + 1), long_before(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        long_before = std::exchange(before, now);
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min(
                {before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], long_before[j - 2] + 1);
        }
    }
    return now[b.size()];
}

} // namespace ucd_base
