// The constructors that ucd.h has no function for. With them, any type can be written as text, also
// one that came from another machine.
#pragma once

#include "language/constructors.hpp"

#include <span>

namespace ucdtool {

std::span<const Constructor> own_constructors();

} // namespace ucdtool
