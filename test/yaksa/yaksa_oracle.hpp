// What the tests know of yaksa: its predefined types, its rule for bounds, its ops. Recipes are the
// other tests' own; the type map of one is walked here by yaksa's rules, element by element.
#pragma once

#include "support/oracle/byte_map.hpp"
#include "support/oracle/recipe.hpp"
#include "support/oracle/reduction_oracle.hpp"

#include <ucd-yaksa/yaksa.h>

#include <span>
#include <vector>

namespace ucdtest {

struct YaksaLeaf {
    yaksa_type_t handle;
    ucd_type_t type; // whose representation it has
    const char *name;
};
std::span<const YaksaLeaf> yaksa_leaves();
yaksa_type_t yaksa_leaf(ucd_type_t type);
// For random recipes.
std::vector<ucd_type_t> yaksa_elements();

// Whether yaksa has all constructors that are in it.
bool fits_yaksa(const Recipe &recipe);

// The map with yaksa's bounds. Types without elements are YAKSA_TYPE__NULL, but for resized ones.
TypeMap yaksa_map(const Recipe &recipe);

struct YaksaOp {
    yaksa_op_t op;
    ucd_op_t same;
    const char *name;
};
std::span<const YaksaOp> yaksa_ops();
bool yaksa_supports(const YaksaOp &op, const Predefined &type);
// One packed element: out = out op in.
void yaksa_reduce(const YaksaOp &op, const Predefined &type, void *out, const void *in);

} // namespace ucdtest
