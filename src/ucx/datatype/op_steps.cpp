#include "datatype/op_steps.h"

#include <algorithm>
#include <iterator>

namespace ucd_ucx {
namespace {

// Predefined types with successive handles, up to `last`, whose arithmetic takes about the same
// time, and that time for an element in nanoseconds. A processor may take 50 ns for each operation
// of x87 on a denormal, a NaN or an invalid number, and multiplies complex numbers again if the
// product is NaN. The test program ucx_parts prints what is measured beside these
// (docs/internals/decisions/ucx.md).
struct Weights {
    ucd_type_t last;
    uint32_t extreme, sum, product, logical, bits, located; // 0: the elements take no such op
};
const Weights weights[] = {
    {UCD_TYPE__NULL, 0, 0, 0, 0, 0, 0},
    {UCD_TYPE__PTRDIFF_T, 3, 3, 3, 3, 3, 0},
    {UCD_TYPE__BFLOAT16, 10, 10, 10, 0, 0, 0},
    {UCD_TYPE__FLOAT, 2, 2, 8, 0, 0, 0},
    {UCD_TYPE__DOUBLE, 2, 12, 16, 0, 0, 0},
    {UCD_TYPE__LONG_DOUBLE, 350, 450, 500, 0, 0, 0},
    {UCD_TYPE__C_COMPLEX, 0, 4, 50, 0, 0, 0},
    {UCD_TYPE__C_DOUBLE_COMPLEX, 0, 24, 100, 0, 0, 0},
    {UCD_TYPE__C_LONG_DOUBLE_COMPLEX, 0, 1000, 3000, 0, 0, 0},
    {UCD_TYPE__SHORT_INT, 0, 0, 0, 0, 0, 60}, // and the other pairs
    {UCD_TYPE__LONG_DOUBLE_INT, 0, 0, 0, 0, 0, 1000},
    {UCD_TYPE__2DOUBLE, 0, 0, 0, 0, 0, 60},
    {UCD_TYPE__FLOAT8_E5M2, 10, 10, 10, 0, 0, 0},
};

} // namespace

uint32_t weight_of_op(ucd_type_t element, ucd_op_t op) {
    const auto *const found =
        std::find_if(std::begin(weights), std::end(weights), [element](const Weights &w) {
            return reinterpret_cast<uintptr_t>(element) <= reinterpret_cast<uintptr_t>(w.last);
        });
    if (found == std::end(weights)) return 0;
    switch (op) {
    case UCD_OP__MAX:
    case UCD_OP__MIN: return found->extreme;
    case UCD_OP__SUM: return found->sum;
    case UCD_OP__PROD: return found->product;
    case UCD_OP__LAND:
    case UCD_OP__LOR:
    case UCD_OP__LXOR: return found->logical;
    case UCD_OP__BAND:
    case UCD_OP__BOR:
    case UCD_OP__BXOR: return found->bits;
    case UCD_OP__MAXLOC:
    case UCD_OP__MINLOC: return found->located;
    default: return 0;
    }
}

uint64_t steps_of_op(ucd_type_t element, uint64_t element_bytes, ucd_op_t op, uint64_t bytes) {
    constexpr uint64_t ns_of_step = 8, most = uint64_t{1} << 48;
    const uint64_t elements = element_bytes == 0 ? 0 : bytes / element_bytes;
    return std::min(elements, most) * weight_of_op(element, op) / ns_of_step;
}

} // namespace ucd_ucx
