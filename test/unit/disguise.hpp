// Layouts said plainly, and the many recipes that MPI offers for each: the inverse of what the
// normaliser does, written without a look at how it does it.
#pragma once

#include "support/oracle/recipe.hpp"
#include "support/random/rng.hpp"

#include <cstdint>
#include <memory>

namespace ucdtest {

struct Shape;
using ShapePtr = std::shared_ptr<const Shape>;

// Where bytes lie, in packed order. Displacements and strides are in bytes.
struct Shape {
    enum class Kind {
        block,   // `count` bytes
        strided, // `count` times the child, `stride` apart
        list,    // the child at each of displs
        pieces,  // lengths[i] bytes at displs[i]
        runs,    // lengths[i] times the child, `stride` apart, from displs[i] on
        fields,  // one child each, at displs[i]
    };
    Kind kind = Kind::block;
    std::intptr_t count = 0, stride = 0;
    Ints displs, lengths;
    ShapePtr child;
    std::vector<ShapePtr> children;

    // What follows from the above; set by the makers.
    std::size_t blocks = 0;          // blocks, if none of them touch
    std::intptr_t bytes = 0;         // packed
    std::intptr_t low = 0, high = 0; // [low, high) is touched
};

namespace shapes {
ShapePtr block(std::intptr_t bytes);
ShapePtr strided(std::intptr_t count, std::intptr_t stride, ShapePtr child);
ShapePtr list(Ints displs, ShapePtr child);
ShapePtr pieces(Ints lengths, Ints displs);
ShapePtr runs(Ints lengths, Ints displs, std::intptr_t stride, ShapePtr child);
ShapePtr fields(Ints displs, std::vector<ShapePtr> children);
} // namespace shapes

struct ShapeOptions {
    int depth = 3;                // constructors above a block
    std::size_t max_entries = 12; // of one list, or iterations of one stride
    std::size_t max_blocks = 1000;
    bool touching = true; // neighbours may touch, so that blocks grow together across iterations
    bool fields = true;   // sequences of different shapes
};
ShapePtr random_shape(Rng &rng, const ShapeOptions &options);

// One constructor per level.
RecipePtr plainly(const Shape &shape);

struct DisguiseOptions {
    std::size_t max_members = 300; // of a struct
    // Lists and strides may be cut into a struct of parts, and fields nested in structs of their
    // own. Layouts that are too large to be normalised from their segments need not undo that.
    bool cut_apart = true, nest_fields = true;
};
// A random other description of the same bytes in the same order.
RecipePtr disguised(Rng &rng, const Shape &shape, const DisguiseOptions &options);

} // namespace ucdtest
