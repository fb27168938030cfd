// Suggestions for misspelt words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ucdtool {

// The candidate with the smallest edit distance; "" if none is close. Candidates are in lower case.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Returns, for example, "; did you mean --slice?", or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

} // namespace ucdtool
