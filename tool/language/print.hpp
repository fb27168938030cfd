// Prints expressions as text that parses to the same expression, and finds such an expression for
// any type.
#pragma once

#include "language/expression.hpp"

#include <ucd.hpp>

#include <string>

namespace ucdtool {

std::string to_text(const Expression &expression);

// An expression for a type with the same flattened bytes, from which it is derived. It therefore
// describes the type, but not the constructors that made it. Types that occur several times are
// defined once.
Expression recover(ucd::TypeRef type);

inline std::string to_text(ucd::TypeRef type) {
    return to_text(recover(type));
}

} // namespace ucdtool
