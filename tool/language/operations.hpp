// The names of the operations.
#pragma once

#include <ucd.h>

#include <span>

namespace ucdtool {

struct OperationName {
    const char *name; // the constant's name without UCD_OP__, in lower case
    ucd_op_t op;
};

// Ordered by value.
std::span<const OperationName> operation_names();

} // namespace ucdtool
