// Reads lists of integers from .npy files.
#pragma once

#include "language/expression.hpp"

#include <string>

namespace ucdtool {

// The integers of a one-dimensional array, of any width; 64-bit integers stay mapped. Throws
// Failure.
Ints list_from_file(const std::string &path);

} // namespace ucdtool
