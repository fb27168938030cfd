// Finds the type that a command's argument names.
#pragma once

#include <ucd.hpp>

#include <string>

namespace ucdtool {

// The type of an argument: an expression; @FILE, where the file has an expression or a flattened
// type; or -, for an expression on standard input. The messages of failures show the text with a
// caret.
ucd::Type type_from_argument(const std::string &argument);

} // namespace ucdtool
