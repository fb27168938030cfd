// Describes a type in words.
#pragma once

#include "transfer/context.h"
#include "types/type.h"

#include <string>

namespace ucd {

std::string describe(const Type &type, const Context &context);

} // namespace ucd
