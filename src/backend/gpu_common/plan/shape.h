// Layouts as levels of a nest for the generated kernels: what is deeper or mixed becomes a list of
// its segments or words, as long as that list stays small. All other layouts become nodes for the
// interpreter.
#pragma once

#include "layout.h"
#include "params/aligned_stores.h"
#include "params/interpreter.h"
#include "params/nest.h"
#include "plan/list_builder.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ucd::gpu {

struct ShapeLevel {
    LevelKind kind = LevelKind::strided;
    uint64_t count = 0; // of children; outermost level: for one or two repetitions
    uint64_t each = 0;  // packed size of a child
    int64_t stride = 0;
    uint32_t displacement_unit = 0;
    uint32_t granule = 0;
    IndexList indices; // of an indexed_block level with a caller's list
    // The offsets of lists.
    uint64_t displacements = 0, first = 0, starts = 0;
};

struct Shape {
    unsigned levels = 0; // 0 if it is not a nest, so that the interpreter moves it
    ShapeLevel level[max_levels];
};

// Whether any level has a list, the library's own or a caller's.
inline bool is_listed(const Shape &shape) {
    return std::any_of(shape.level, shape.level + shape.levels,
                       [](const ShapeLevel &level) { return level.kind != LevelKind::strided; });
}

// Whether the level's list is a caller's.
inline bool is_by_reference(const ShapeLevel &level) {
    return level.indices.indices != nullptr;
}

// Whether kernels have words of that many bytes.
inline bool is_word(uint64_t bytes) {
    return bytes <= vector_bytes && (bytes & (bytes - 1)) == 0;
}

// The interpreter's constant for a type of indices.
inline uint32_t index_kind(Element element) {
    return element == Element::int32    ? index_int32
           : element == Element::uint32 ? index_uint32
                                        : index_64_bits;
}

// Makes the levels of `top`, which is not a node of the layout if it is repeated; adds its lists to
// `lists`. `open_ended` means that the count of the outermost level depends on the call.
Shape shape_of(const Layout &layout, const Node &top, bool open_ended, ListBuilder &lists);

// For a shape with strided outer levels: the stores of the innermost child, or of the subtree that
// is listed in its place. `levels` of the shape are around it.
struct AlignedStoreList {
    unsigned levels = 0;
    uint64_t period = 0; // packed bytes; 0 if there is no such list, or it does not pay
    std::vector<AlignedStore> stores;
};
AlignedStoreList aligned_stores_of(const Layout &layout, const Node &top, const Shape &shape);

// A layout for the kernels that walk any layout: its nodes and their lists.
struct InterpreterLists {
    std::vector<char> bytes;
    uint64_t nodes = 0; // offset of the nodes
    uint32_t root = 0;  // the node of `top`, which follows those of the layout
};
InterpreterLists make_interpreter_lists(const Layout &layout, const Node &top);

// The largest word, up to 16 bytes, that divides all blocks and distances.
uint32_t common_word(const Layout &layout, const Node &top);

} // namespace ucd::gpu
