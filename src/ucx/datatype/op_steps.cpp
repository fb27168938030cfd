#include "datatype/op_steps.h"

#include <algorithm>
#include <iterator>

namespace ucd_ucx {
namespace {

// Elements whose arithmetic takes about the same time.
enum class ElementClass : uint8_t {
    none,
    integer,
    small_float, // 8 or 16 bits
    single_float,
    double_float,
    long_float,
    single_complex,
    double_complex,
    long_complex,
    short_pair, // all but those with a long double
    long_pair,
};

ElementClass class_of(ucd_type_t element) {
    const auto handle = reinterpret_cast<uintptr_t>(element);
    const auto is = [handle](ucd_type_t other) {
        return handle == reinterpret_cast<uintptr_t>(other);
    };
    if (is(UCD_TYPE__NULL) || handle > reinterpret_cast<uintptr_t>(UCD_TYPE__FLOAT8_E5M2))
        return ElementClass::none;
    if (is(UCD_TYPE__FLOAT8_E4M3) || is(UCD_TYPE__FLOAT8_E5M2) || is(UCD_TYPE__FLOAT16) ||
        is(UCD_TYPE__BFLOAT16))
        return ElementClass::small_float;
    if (is(UCD_TYPE__FLOAT)) return ElementClass::single_float;
    if (is(UCD_TYPE__DOUBLE)) return ElementClass::double_float;
    if (is(UCD_TYPE__LONG_DOUBLE)) return ElementClass::long_float;
    if (is(UCD_TYPE__C_COMPLEX)) return ElementClass::single_complex;
    if (is(UCD_TYPE__C_DOUBLE_COMPLEX)) return ElementClass::double_complex;
    if (is(UCD_TYPE__C_LONG_DOUBLE_COMPLEX)) return ElementClass::long_complex;
    if (is(UCD_TYPE__LONG_DOUBLE_INT)) return ElementClass::long_pair;
    return handle < reinterpret_cast<uintptr_t>(UCD_TYPE__FLOAT16) ? ElementClass::integer
                                                                   : ElementClass::short_pair;
}

// In nanoseconds for an element. A processor may take 50 ns for each operation of x87 on a
// denormal, a NaN or an invalid number, and multiplies complex numbers again if the product is NaN.
// The test program ucx_parts prints what is measured beside these
// (docs/internals/decisions/ucx.md).
struct Weights {
    ElementClass of;
    uint32_t extreme, sum, product, logical, bits, located; // 0: the element takes no such op
};
constexpr Weights weights[] = {
    {ElementClass::integer, 3, 3, 3, 3, 3, 0},
    {ElementClass::small_float, 10, 10, 10, 0, 0, 0},
    {ElementClass::single_float, 2, 2, 8, 0, 0, 0},
    {ElementClass::double_float, 2, 12, 16, 0, 0, 0},
    {ElementClass::long_float, 350, 450, 500, 0, 0, 0},
    {ElementClass::single_complex, 0, 4, 50, 0, 0, 0},
    {ElementClass::double_complex, 0, 24, 100, 0, 0, 0},
    {ElementClass::long_complex, 0, 1000, 3000, 0, 0, 0},
    {ElementClass::short_pair, 0, 0, 0, 0, 0, 60},
    {ElementClass::long_pair, 0, 0, 0, 0, 0, 1000},
};

} // namespace

uint32_t weight_of_op(ucd_type_t element, ucd_op_t op) {
    const ElementClass of = class_of(element);
    const auto *const found = std::find_if(std::begin(weights), std::end(weights),
                                           [of](const Weights &w) { return w.of == of; });
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
