// What UCD_OP__CONVERT and UCD_OP__CONVERT_SAT make of an element, in exact integer arithmetic: a
// number is a sign, 64 bits and a power of two.
#pragma once

#include "support/oracle/predefined.hpp"

#include <cstddef>
#include <span>

namespace ucdtest {

// The predefined types that are converted to each other: real ones, or the two complex ones.
std::span<const ucd_type_t> converted_types(bool complex);

// Whether the conversion is defined.
bool is_converted(const Predefined &from, const Predefined &to);

// Converts one element; both are packed, and at any address.
void convert_element(const Predefined &from, const void *in, const Predefined &to, void *out,
                     bool saturate);

} // namespace ucdtest
