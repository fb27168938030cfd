// From expression to text that parses to the same expression, and from any type to such text.
#pragma once

#include "language/expression.hpp"

#include <ucd.hpp>

#include <string>

namespace ucdtool {

std::string to_text(const Expression &expression);

// An expression of a type of equal flattened bytes: those are what it is recovered from, so it says
// what the type is, not which constructors made it. What occurs several times is defined once.
Expression recover(ucd::TypeRef type);

inline std::string to_text(ucd::TypeRef type) {
    return to_text(recover(type));
}

} // namespace ucdtool
