// Where a command's type comes from.
#pragma once

#include <ucd.hpp>

#include <string>

namespace ucdtool {

// The type of an argument: an expression; @FILE, which holds an expression or a flattened type; or
// -, an expression on standard input. Failures carry the text with a caret.
ucd::Type type_from_argument(const std::string &argument);

} // namespace ucdtool
