// What a misspelt word may have been meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ucdtool {

// The candidate that takes the fewest edits; "" if none is near. Candidates are in small letters.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean --slice?", or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

} // namespace ucdtool
