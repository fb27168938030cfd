// Shapes are the nodes of the flattened form while it is built: types without position and bounds.
// Extents have become strides, displacements are kept at the level where they differ, and equal
// shapes are one shape.
//
// A list is replaced by a simpler shape only if both lower to the same layout, so that the reader's
// type is as fast as the writer's. It becomes strides exactly where normalisation would make
// strides of it.
#pragma once

#include "flatten/format.h"
#include "layout.h"
#include "types/type.h"

#include <set>
#include <span>
#include <vector>

namespace ucd::flat {

using ShapeId = uint32_t;
inline constexpr ShapeId no_shape = UINT32_MAX;

// A shape is relative to its first packed byte.
struct FlatShape {
    Kind kind = Kind::element;
    uint8_t flags = 0;
    uint8_t element_class = 0, element_bytes = 0, alignment_log = 0; // element
    uint8_t steps_width = 0, lengths_width = 0;                      // lists
    ShapeId child = no_shape;                                        // nest, indexed_block, indexed
    int64_t count = 0;                       // nest: of its one level; lists: number of entries
    int64_t stride{};                        // nest: of its one level; indexed: within a run
    int64_t unit = 0;                        // lists: the unit of the steps, in bytes
    std::size_t list_at = 0, list_bytes = 0; // the encoded steps, then lengths
    std::size_t children_at = 0;             // structure

    // Strides over an element of one piece, no two of which touch unless all are one dense block.
    bool plain = false;
    bool dense = false; // one block
    int64_t end = 0;    // the end of its last byte, if it is plain
};

// A shape whose first byte lies at displacement `at`.
struct PlacedShape {
    int64_t at = 0;
    ShapeId id = no_shape;
};

class Shapes {
public:
    Shapes() = default;
    Shapes(const Shapes &) = delete; // the index points to this object
    Shapes &operator=(const Shapes &) = delete;

    ShapeId element(const Type &type);
    ShapeId strided(int64_t count, int64_t stride, ShapeId child);
    // Equal children at displacements displs[i].
    PlacedShape indexed_block(const std::vector<int64_t> &displs, ShapeId child);
    // Runs of lengths[i] > 0 children, `stride` apart, at displs[i].
    PlacedShape indexed(const std::vector<int64_t> &displs, const std::vector<int64_t> &lengths,
                        int64_t stride, ShapeId child);
    // At least two children, which may differ, at displs[i].
    PlacedShape structure(const std::vector<int64_t> &displs, const std::vector<ShapeId> &children);

    const FlatShape &operator[](ShapeId id) const { return shapes_[id]; }

    struct Written {
        uint32_t nodes = 0;
        uint16_t version = 1; // the first version that has all of them
    };
    // Appends all shapes that `root` consists of, children first.
    Written write(ShapeId root, std::vector<uint8_t> &bytes) const;

private:
    struct Steps {
        bool progression = true;
        int64_t unit = 0; // the only step, or the greatest common divisor of all
        uint8_t width = 0;
    };
    static Steps survey(const std::vector<int64_t> &displs);
    ShapeId nested_progressions(const std::vector<int64_t> &displs, ShapeId child);
    FlatShape list(Kind kind, const std::vector<int64_t> &displs, const Steps &steps);
    uint8_t *extend(FlatShape &shape, std::size_t bytes);
    ShapeId intern(const FlatShape &shape);
    std::span<const uint8_t> list_of(const FlatShape &shape) const;
    // The one child, or the children of a structure.
    std::span<const ShapeId> children_of(const FlatShape &shape) const;

    const ShapeId &below(const FlatShape &nest) const;
    std::span<const ShapeId> written_children(const FlatShape &shape) const;
    void write_node(const FlatShape &shape, const std::vector<uint32_t> &renamed,
                    std::vector<uint8_t> &bytes) const;

    std::vector<FlatShape> shapes_; // children before parents
    std::vector<uint8_t> lists_;
    std::vector<ShapeId> children_; // of structures
    // Equal shapes are found by ordered comparison. A hash table could be made slow by a peer that
    // sends types with colliding hashes.
    struct Less {
        const Shapes *shapes;
        bool operator()(ShapeId a, ShapeId b) const;
    };
    std::set<ShapeId, Less> index_{Less{this}};
};

} // namespace ucd::flat
