// What combining elements by an op costs, in steps of the ledger.
#pragma once

#include <cstdint>
#include <ucd.h>

namespace ucd_ucx {

// The time for one element in nanoseconds, with the operands that take longest. 0: the element does
// not take the op.
uint32_t weight_of_op(ucd_type_t element, ucd_op_t op);

// The steps for combining `bytes` bytes of elements of this type and size, beside those for moving
// them.
uint64_t steps_of_op(ucd_type_t element, uint64_t element_bytes, ucd_op_t op, uint64_t bytes);

} // namespace ucd_ucx
