// The public type that has a representation of the contract: for tests that call backends or
// kernels themselves.
#pragma once

#include "element.h"

#include <ucd.h>

namespace ucdtest {

// Null for those that no device has arithmetic for: long doubles and text.
inline ucd_type_t public_type(ucd::Element element) {
    using ucd::Element;
    switch (element) {
    case Element::byte: return UCD_TYPE__BYTE;
    case Element::bool8: return UCD_TYPE___BOOL;
    case Element::int8: return UCD_TYPE__INT8_T;
    case Element::int16: return UCD_TYPE__INT16_T;
    case Element::int32: return UCD_TYPE__INT32_T;
    case Element::int64: return UCD_TYPE__INT64_T;
    case Element::uint8: return UCD_TYPE__UINT8_T;
    case Element::uint16: return UCD_TYPE__UINT16_T;
    case Element::uint32: return UCD_TYPE__UINT32_T;
    case Element::uint64: return UCD_TYPE__UINT64_T;
    case Element::float16: return UCD_TYPE__FLOAT16;
    case Element::bfloat16: return UCD_TYPE__BFLOAT16;
    case Element::float8_e4m3: return UCD_TYPE__FLOAT8_E4M3;
    case Element::float8_e5m2: return UCD_TYPE__FLOAT8_E5M2;
    case Element::float32: return UCD_TYPE__FLOAT;
    case Element::float64: return UCD_TYPE__DOUBLE;
    case Element::complex32: return UCD_TYPE__C_COMPLEX;
    case Element::complex64: return UCD_TYPE__C_DOUBLE_COMPLEX;
    case Element::float32_int32: return UCD_TYPE__FLOAT_INT;
    case Element::float64_int32: return UCD_TYPE__DOUBLE_INT;
    case Element::int64_int32: return UCD_TYPE__LONG_INT;
    case Element::int32_int32: return UCD_TYPE__2INT;
    case Element::int16_int32: return UCD_TYPE__SHORT_INT;
    case Element::float32_float32: return UCD_TYPE__2FLOAT;
    case Element::float64_float64: return UCD_TYPE__2DOUBLE;
    default: return UCD_TYPE__NULL;
    }
}

} // namespace ucdtest
