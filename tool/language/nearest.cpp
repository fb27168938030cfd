#include "language/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace ucdtool {
namespace {

// The edit distance: insertions, deletions, replacements and swaps of neighbouring letters.
std::size_t edits(std::string_view a, std::string_view b) {
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

} // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t longest = 32;
    if (word.size() > longest) return "";
    std::string small(word);
    for (char &c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    std::string best;
    std::size_t least = small.size() / 3 + 1; // with more edits it is too different
    for (const std::string &candidate : candidates)
        if (const std::size_t n = edits(small, candidate); n < least) {
            least = n;
            best = candidate;
        }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::string near = nearest(word, candidates);
    return near.empty() ? "" : std::string("; did you mean ") + near + "?";
}

} // namespace ucdtool
