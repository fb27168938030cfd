// The operations by name.
#pragma once

#include <ucd.h>

#include <span>

namespace ucdtool {

struct OperationName {
    const char *name; // that of the constant without UCD_OP__, in small letters
    ucd_op_t op;
};

// In the order of the values.
std::span<const OperationName> operation_names();

} // namespace ucdtool
