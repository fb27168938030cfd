// From text to expression; docs/reference/type-language.md is the grammar.
#pragma once

#include "language/expression.hpp"

#include <string>
#include <string_view>

namespace ucdtool {

// Whether files that a text names may be opened: a text may come from elsewhere.
enum class NamedFiles { opened, refused };

// Reads the text or throws SyntaxError with the place and what was expected. Nesting is limited by
// memory only.
Expression parse(std::string_view text, NamedFiles files = NamedFiles::opened);

// The line of the text that holds byte `at`, cut to a window, with a caret below that byte.
std::string point_at(std::string_view text, std::size_t at);

} // namespace ucdtool
