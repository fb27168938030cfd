// The oracle: the type map of a recipe, element by element, by the definitions of MPI-4.1 chapter 5
// and nothing cleverer. It shares no code and no representation with the library.
#pragma once

#include "support/oracle/predefined.hpp"
#include "support/oracle/recipe.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucdtest {

struct Entry {
    const Predefined *type;
    std::intptr_t displ;
};

// In the order of the type map. Entries name elements; bounds are what the standard's lb and ub
// markers (explicit) or the entries themselves (implicit) make them.
struct TypeMap {
    std::vector<Entry> entries;
    bool by_reference = false;    // an indexed_block_ref is in it
    bool explicit_bounds = false; // the map has markers; they are at lb and lb + extent
    std::intptr_t lb = 0, extent = 0;
    std::intptr_t true_lb = 0, true_extent = 0;
    std::size_t size = 0;  // packed bytes
    std::size_t align = 1; // the largest of its entries

    std::intptr_t ub() const { return lb + extent; }
    std::intptr_t true_ub() const { return true_lb + true_extent; }
};

TypeMap type_map(const Recipe &recipe);

// One level of the definition: the map of `top`, given those of children(top), in that order. Lets
// generators grow a recipe without computing all of it again.
TypeMap type_map(const Recipe &top, const std::vector<const TypeMap *> &child_maps);

} // namespace ucdtest
