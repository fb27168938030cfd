// out = out op in, element by element, in plain C++; and which (op, type) pairs exist.
#pragma once

#include "support/oracle/byte_map.hpp"
#include "support/oracle/predefined.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace ucdtest {

struct OpName {
    ucd_op_t op;
    const char *name; // without UCD_OP__
};
std::span<const OpName> all_ops();
const char *op_name(ucd_op_t op);

// api.md, "Ops". A derived type takes what each of its elements takes.
bool is_supported(ucd_op_t op, const Predefined &type);
bool is_supported(ucd_op_t op, const TypeMap &map);
std::vector<ucd_type_t> types_supporting(ucd_op_t op);

// One packed element at any alignment. The pair must be supported.
void reduce_element(ucd_op_t op, const Predefined &type, void *out, const void *in);

// Elements [first, last) of two packed streams, which start at stream offset
// elements[first].offset.
void reduce_stream(ucd_op_t op, const std::vector<StreamElement> &elements, std::size_t first,
                   std::size_t last, std::byte *out, const std::byte *in);

} // namespace ucdtest
