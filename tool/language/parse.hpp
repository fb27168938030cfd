// Parses text to expressions. docs/reference/type-language.md has the grammar.
#pragma once

#include "language/expression.hpp"

#include <string>
#include <string_view>

namespace ucdtool {

// Whether the text may name files to open, which must be refused for untrusted text.
enum class NamedFiles { opened, refused };

// Parses the text. Throws SyntaxError with the position and what was expected. Only memory limits
// the nesting.
Expression parse(std::string_view text, NamedFiles files = NamedFiles::opened);

// The line of the text around byte `at`, shortened if it is long, with a caret below that byte.
std::string point_at(std::string_view text, std::size_t at);

} // namespace ucdtool
