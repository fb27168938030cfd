// Lists of integers from .npy files.
#pragma once

#include "language/expression.hpp"

#include <string>

namespace ucdtool {

// The file's integers, of any width, in one dimension; 64-bit ones stay mapped. Throws Failure.
Ints list_from_file(const std::string &path);

} // namespace ucdtool
