#include "language/nearest.hpp"

#include "edit_distance.h"

#include <cstddef>

namespace ucdtool {
std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t longest = 32;
    if (word.size() > longest) return "";
    std::string small(word);
    for (char &c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    std::string best;
    std::size_t least = small.size() / 3 + 1; // with more edits it is too different
    for (const std::string &candidate : candidates)
        if (const std::size_t n = ucd_base::edit_distance(small, candidate); n < least) {
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
