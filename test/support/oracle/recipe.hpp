// A recipe is plain data that says how a type is built: a constructor, its arguments, and the
// recipes of the types it is built on. The library (recipe_build) and the oracle (type_map) read
// the same recipe and share nothing else. What constructors there are, and what their arguments are
// called, is read from ucd.h.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ucdtest {

struct Recipe;
// Shared, because one type may be used several times in another (and is then built only once).
using RecipePtr = std::shared_ptr<const Recipe>;
using Ints = std::vector<std::intptr_t>;

struct Leaf {
    ucd_type_t type;
};
// The indices are in memory of the recipe, or wherever a test has placed them, as index_type says.
struct IndexedBlockRef {
    std::intptr_t blocklength;
    std::vector<std::int64_t> indices;
    ucd_type_t index_type;
    std::intptr_t unit, lb, extent;
    RecipePtr old;
    std::shared_ptr<void> memory;
};

namespace recipes {
// A recipe whose constructor and arguments are `node`.
template <class Node>
RecipePtr make(Node node);
} // namespace recipes

} // namespace ucdtest

// A struct for each constructor, with its arguments in the order of the C function (counts come
// from the arrays), and a maker in `recipes` that takes the same. to_text prints calls of these
// makers, so a failing recipe can be pasted into a test.
#include "recipe_nodes.h"

namespace ucdtest {

struct Recipe {
    AnyNode<Leaf, IndexedBlockRef> node;
};

namespace recipes {

template <class Node>
RecipePtr make(Node node) {
    return std::make_shared<const Recipe>(Recipe{std::move(node)});
}

RecipePtr leaf(ucd_type_t type);
// `memory`: where the indices are, which are not written there; if null, memory of their own, with
// the indices.
RecipePtr indexed_block_ref(std::intptr_t blocklength, std::vector<std::int64_t> indices,
                            ucd_type_t index_type, std::intptr_t unit, std::intptr_t lb,
                            std::intptr_t extent, RecipePtr old,
                            std::shared_ptr<void> memory = nullptr);

} // namespace recipes

// The recipes that this one names, in the order in which it names them (none for a leaf).
std::vector<RecipePtr> children(const Recipe &recipe);

std::string to_text(const Recipe &recipe);

// The indices as index_type has them in memory.
std::vector<std::byte> bytes_of_indices(const std::vector<std::int64_t> &indices,
                                        ucd_type_t index_type);

} // namespace ucdtest
