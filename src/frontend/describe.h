// A type for people to read.
#pragma once

#include "context.h"
#include "type.h"

#include <string>

namespace ucd {

std::string describe(const Type &type, const Context &context);

} // namespace ucd
