// How a type is built, as data: the one description from which UCD's type, MPI's datatype and the
// list of its segments are made, so that all of them surely mean the same layout.
#pragma once

#include "shapes/shapes.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

struct Recipe;
using RecipePtr = std::shared_ptr<const Recipe>;
using Ints = std::vector<std::intptr_t>;

enum class Element { byte, int32, float32, float64 };

struct Predefined {
    Element element;
};
struct Contig {
    std::intptr_t count;
    RecipePtr old;
};
struct Vector { // stride in extents of `old`
    std::intptr_t count, blocklength, stride;
    RecipePtr old;
};
struct HVector { // stride in bytes
    std::intptr_t count, blocklength, stride;
    RecipePtr old;
};
struct IndexedBlock { // displs in extents of `old`
    std::intptr_t blocklength;
    Ints displs;
    RecipePtr old;
};
struct Indexed { // displs in extents of `old`
    Ints blocklengths, displs;
    RecipePtr old;
};
struct Struct { // displs in bytes
    Ints blocklengths, displs;
    std::vector<RecipePtr> types;
};
struct Subarray { // in C order
    Ints sizes, subsizes, starts;
    RecipePtr old;
};
struct Resized {
    std::intptr_t lb, extent;
    RecipePtr old;
};

struct Recipe {
    std::variant<Predefined, Contig, Vector, HVector, IndexedBlock, Indexed, Struct, Subarray,
                 Resized>
        node;
};

template <class Node>
RecipePtr recipe(Node node) {
    return std::make_shared<const Recipe>(Recipe{std::move(node)});
}

inline RecipePtr predefined(Element element) {
    return recipe(Predefined{element});
}

inline RecipePtr doubles() {
    return predefined(Element::float64);
}

// Levels of equal steps around blocks of `unit`, the outermost level first.
RecipePtr nest_of(RecipePtr unit, std::int64_t block, std::span<const shapes::Level> levels);
template <std::size_t depth>
RecipePtr nest_of(RecipePtr unit, const shapes::Nest<depth> &nest) {
    return nest_of(std::move(unit), nest.block, nest.levels);
}

// Records of {double; int; int; char}.
RecipePtr records_of(std::intptr_t count, std::intptr_t extent);
// The lower triangle of a matrix of doubles, with its diagonal.
RecipePtr lower_triangle(std::intptr_t side);
// The columns of a matrix of doubles, one after the other.
RecipePtr transposed(std::intptr_t side);

std::intptr_t element_bytes(Element element);

// From the lowest to the highest byte, as MPI defines it. Types whose alignment would round their
// extent up are resized by the recipes that need it, so that it does not matter here.
struct Bounds {
    std::intptr_t lb, extent;
};
Bounds bounds_of(const Recipe &recipe);

struct Segment {
    std::intptr_t displacement;
    std::intptr_t bytes;
};

// The contiguous segments in packed order; segments that touch in order and memory are one.
std::vector<Segment> segments_of(const Recipe &recipe);

// From the first byte of data to behind the last one, and how many bytes of data there are.
struct Extremes {
    std::int64_t low = 0, high = 0, bytes = 0;
};
Extremes extremes_of(const std::vector<Segment> &segments);

} // namespace bench
