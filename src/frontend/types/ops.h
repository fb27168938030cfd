// The ops that a type supports, and the message for those that it does not.
#pragma once

#include "status.h"
#include "types/type.h"

#include <string>
#include <string_view>

namespace ucd {

std::string_view op_name(Op op);

// Returns NOT_SUPPORTED, or INVALID_ARG if that is no type. The message names the op and the first
// element of the type that does not support it: that lacks the op's bit.
Status fail_unsupported(Op op, const Type &type, uint32_t bit);
inline Status fail_unsupported(Op op, const Type &type) {
    return fail_unsupported(op, type, op_bit(op));
}

// The name of an element in messages.
std::string element_name(Element element);

} // namespace ucd
