// Which reductions a type takes, and the words for it.
#pragma once

#include "status.h"
#include "types/type.h"

#include <string_view>

namespace ucd {

std::string_view op_name(Op op);

// NOT_SUPPORTED, naming the op and the first element of the type that does not take it.
Status fail_unsupported(Op op, const Type &type);

} // namespace ucd
