// A layout as levels of a nest for the generated kernels: what is deeper or mixed becomes a list of
// its segments or words, as long as that list stays small. And as a program, for everything else.
#pragma once

#include "layout.h"
#include "nest.h"
#include "pieces.h"
#include "program.h"

#include <cstdint>
#include <vector>

namespace ucd::UCD_GPU {

// Lists and nodes as the device will have them, in one piece of memory.
class Image {
public:
    // The offset of a copy of the entries, which starts on 16 bytes.
    template <class T>
    uint64_t add(const std::vector<T> &entries) {
        const uint64_t at = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(at + entries.size() * sizeof(T));
        if (!entries.empty())
            __builtin_memcpy(bytes_.data() + at, entries.data(), entries.size() * sizeof(T));
        return at;
    }
    const std::vector<char> &bytes() const { return bytes_; }

private:
    std::vector<char> bytes_;
};

struct ShapeLevel {
    LevelKind kind = LevelKind::strided;
    uint64_t count = 0; // children; of the outermost level: of one or two repetitions
    uint64_t each = 0;  // packed bytes of a child
    int64_t stride = 0;
    uint32_t displacement_unit = 0;
    uint32_t granule = 0;
    // Offsets in the image.
    uint64_t displacements = 0, first = 0, starts = 0;
};

struct Shape {
    unsigned levels = 0; // 0: no nest; a program moves it
    ShapeLevel level[max_levels];
};

// The levels of `top`, which stands outside the layout if it is repeated; their lists are added to
// the image.
Shape shape_of(const Layout &layout, const Node &top, Image &image);

// Of a shape whose outer levels are strided: the innermost child, or what is listed in its place, as
// pieces. `levels` of the shape are around it.
struct PieceList {
    unsigned levels = 0;
    uint64_t period = 0; // bytes of the stream; 0: there is no such list, or it does not pay
    std::vector<StorePiece> pieces;
};
PieceList pieces_of(const Layout &layout, const Node &top, const Shape &shape);

// The nodes of the layout and of `top`, behind them all. `root` is where the walk starts.
void add_program(const Layout &layout, const Node &top, Image &image, uint64_t &program,
                 uint32_t &root);

// The largest word, up to 16 bytes, of which all blocks and distances are multiples.
uint32_t common_word(const Layout &layout, const Node &top);

} // namespace ucd::UCD_GPU
