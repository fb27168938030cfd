// A layout as levels of a nest for the generated kernels: what is deeper or mixed becomes a list of
// its segments or words, as long as that list stays small. And as nodes for the interpreter, for
// everything else.
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
    uint64_t count = 0; // children; of the outermost level: of one or two repetitions
    uint64_t each = 0;  // packed bytes of a child
    int64_t stride = 0;
    uint32_t displacement_unit = 0;
    uint32_t granule = 0;
    IndexList indices; // of an indexed_block level whose list is the caller's; else without address
    // Offsets of lists.
    uint64_t displacements = 0, first = 0, starts = 0;
};

struct Shape {
    unsigned levels = 0; // 0: no nest; the interpreter moves it
    ShapeLevel level[max_levels];
};

// Whether a level has a list, its own or a caller's.
inline bool is_listed(const Shape &shape) {
    return std::any_of(shape.level, shape.level + shape.levels,
                       [](const ShapeLevel &level) { return level.kind != LevelKind::strided; });
}

// Whether the list of a level is a caller's.
inline bool is_by_reference(const ShapeLevel &level) {
    return level.indices.indices != nullptr;
}

// What the interpreter knows an index as.
inline uint32_t index_kind(Element element) {
    return element == Element::int32    ? index_int32
           : element == Element::uint32 ? index_uint32
                                        : index_64_bits;
}

// The levels of `top`, which stands outside the layout if it is repeated; its lists are added to
// `lists`. `open_ended`: the count of the outermost level depends on the call.
Shape shape_of(const Layout &layout, const Node &top, bool open_ended, ListBuilder &lists);

// Of a shape whose outer levels are strided: the innermost child, or what is listed in its place,
// as stores. `levels` of the shape are around it.
struct AlignedStoreList {
    unsigned levels = 0;
    uint64_t period = 0; // bytes of the stream; 0: there is no such list, or it does not pay
    std::vector<AlignedStore> stores;
};
AlignedStoreList aligned_stores_of(const Layout &layout, const Node &top, const Shape &shape);

// A layout for the kernels that walk any: its nodes and their lists.
struct InterpreterLists {
    std::vector<char> bytes;
    uint64_t nodes = 0; // their offset
    uint32_t root = 0;  // where the walk starts: `top`, behind the nodes of the layout
};
InterpreterLists make_interpreter_lists(const Layout &layout, const Node &top);

// The largest word, up to 16 bytes, of which all blocks and distances are multiples.
uint32_t common_word(const Layout &layout, const Node &top);

} // namespace ucd::gpu
