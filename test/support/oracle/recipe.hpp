// A recipe is plain data that says how a type is built: a constructor, its arguments, and the
// recipes of the types it is built on. The library (recipe_build) and the oracle (type_map) read
// the same recipe and share nothing else.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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
struct Contig {
    std::intptr_t count;
    RecipePtr old;
};
struct Dup {
    RecipePtr old;
};
struct Vector {
    std::intptr_t count, blocklength, stride;
    RecipePtr old;
};
struct HVector {
    std::intptr_t count, blocklength, stride;
    RecipePtr old;
};
struct IndexedBlock {
    std::intptr_t blocklength;
    Ints displs;
    RecipePtr old;
};
struct HIndexedBlock {
    std::intptr_t blocklength;
    Ints displs;
    RecipePtr old;
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
struct Indexed {
    Ints blocklengths, displs;
    RecipePtr old;
};
struct HIndexed {
    Ints blocklengths, displs;
    RecipePtr old;
};
struct Struct {
    Ints blocklengths, displs;
    std::vector<RecipePtr> types;
};
struct Subarray {
    Ints sizes, subsizes, starts;
    int order;
    RecipePtr old;
};
struct Darray {
    int size, rank;
    Ints gsizes;
    std::vector<int> distribs;
    Ints dargs;
    std::vector<int> psizes;
    int order;
    RecipePtr old;
};
struct NdArray {
    Ints shape, byte_strides;
    RecipePtr old;
};
struct Resized {
    RecipePtr old;
    std::intptr_t lb, extent;
};

struct Recipe {
    std::variant<Leaf, Contig, Dup, Vector, HVector, IndexedBlock, HIndexedBlock, IndexedBlockRef,
                 Indexed, HIndexed, Struct, Subarray, Darray, NdArray, Resized>
        node;
};

// Makers with the arguments in the order of the C functions (counts come from the arrays). to_text
// prints exactly these calls, so a failing recipe can be pasted into a test.
namespace recipes {

RecipePtr leaf(ucd_type_t type);
RecipePtr contig(std::intptr_t count, RecipePtr old);
RecipePtr dup(RecipePtr old);
RecipePtr vector(std::intptr_t count, std::intptr_t blocklength, std::intptr_t stride,
                 RecipePtr old);
RecipePtr hvector(std::intptr_t count, std::intptr_t blocklength, std::intptr_t stride,
                  RecipePtr old);
RecipePtr indexed_block(std::intptr_t blocklength, Ints displs, RecipePtr old);
RecipePtr hindexed_block(std::intptr_t blocklength, Ints displs, RecipePtr old);
// `memory`: where the indices are, which are not written there; if null, memory of their own, with
// the indices.
RecipePtr indexed_block_ref(std::intptr_t blocklength, std::vector<std::int64_t> indices,
                            ucd_type_t index_type, std::intptr_t unit, std::intptr_t lb,
                            std::intptr_t extent, RecipePtr old,
                            std::shared_ptr<void> memory = nullptr);
RecipePtr indexed(Ints blocklengths, Ints displs, RecipePtr old);
RecipePtr hindexed(Ints blocklengths, Ints displs, RecipePtr old);
RecipePtr structure(Ints blocklengths, Ints displs, std::vector<RecipePtr> types);
RecipePtr subarray(Ints sizes, Ints subsizes, Ints starts, int order, RecipePtr old);
RecipePtr darray(int size, int rank, Ints gsizes, std::vector<int> distribs, Ints dargs,
                 std::vector<int> psizes, int order, RecipePtr old);
RecipePtr ndarray(Ints shape, Ints byte_strides, RecipePtr old);
RecipePtr resized(RecipePtr old, std::intptr_t lb, std::intptr_t extent);

} // namespace recipes

// The recipes that this one names, in the order in which it names them (none for a leaf).
std::vector<RecipePtr> children(const Recipe &recipe);

std::string to_text(const Recipe &recipe);

// The indices as index_type has them in memory.
std::vector<std::byte> bytes_of_indices(const std::vector<std::int64_t> &indices,
                                        ucd_type_t index_type);

} // namespace ucdtest
