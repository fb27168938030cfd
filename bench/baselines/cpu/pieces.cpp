// The hand-written loops for parts of a layout, and for the list of its segments.
#include "baselines/cpu/copy.hpp"
#include "baselines/cpu/loops.hpp"
#include "shapes/shapes.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace bench::hand {
namespace {

using namespace shapes;

// Whole blocks: the pieces that are measured are multiples of the blocks.
template <auto vector, To to>
void move_vector(const Lists &, const Piece &piece, char *__restrict typed,
                 char *__restrict packed) {
    constexpr std::int64_t block = vector.block, stride = vector.levels[0].stride;
    char *const at = typed + piece.first * stride;
    const std::int64_t blocks = piece.bytes / block;
    for (std::int64_t i = 0; i < blocks; ++i) copy<to>(at + i * stride, packed + i * block, block);
}

// Whole innermost rows of blocks.
template <auto cube, To to>
void move_cube(const Lists &, const Piece &piece, char *__restrict typed, char *__restrict packed) {
    constexpr Level outer = cube.levels[0], middle = cube.levels[1], inner = cube.levels[2];
    const std::int64_t rows = piece.bytes / (inner.count * cube.block);
    for (std::int64_t r = piece.first / inner.count, end = r + rows; r < end; ++r) {
        char *const at = typed + r / middle.count * outer.stride + r % middle.count * middle.stride;
        for (std::int64_t i = 0; i < inner.count; ++i, packed += cube.block)
            copy<to>(at + i * inner.stride, packed, cube.block);
    }
}

template <auto nest, std::size_t level = 0>
[[gnu::always_inline]] inline iovec *list_segments(char *typed, iovec *segments) {
    if constexpr (level == nest.depth) {
        *segments = {typed, nest.block};
        return segments + 1;
    } else {
        for (std::int64_t i = 0; i < nest.levels[level].count; ++i)
            segments =
                list_segments<nest, level + 1>(typed + i * nest.levels[level].stride, segments);
        return segments;
    }
}

template <auto nest>
void list_nest(const Lists &, char *typed, iovec *segments) {
    list_segments<nest>(typed, segments);
}

// Doubles in runs of 1 to 4, whose first and last may be cut.
template <To to>
void move_runs(const Lists &lists, const Piece &piece, char *__restrict typed,
               char *__restrict packed) {
    const std::int32_t *displs = lists.displs + piece.first;
    const std::int32_t *lengths = lists.lengths + piece.first;
    char *const end = packed + piece.bytes;
    if (piece.skip > 0) {
        const std::int64_t bytes = std::min(*lengths++ * std::int64_t{8} - piece.skip, piece.bytes);
        copy<to>(typed + *displs++ * std::int64_t{8} + piece.skip, packed, bytes);
        packed += bytes;
    }
    // Only where the longest run would fit is there no need to look for the end.
    while (end - packed >= 4 * 8) {
        char *const at = typed + *displs++ * std::int64_t{8};
        const std::int32_t length = *lengths++;
        switch (length) {
        case 1: copy<to>(at, packed, 8); break;
        case 2: copy<to>(at, packed, 16); break;
        case 3: copy<to>(at, packed, 24); break;
        case 4: copy<to>(at, packed, 32); break;
        default: __builtin_unreachable();
        }
        packed += length * std::int64_t{8};
    }
    while (packed < end) {
        const std::int64_t bytes =
            std::min<std::int64_t>(*lengths++ * std::int64_t{8}, end - packed);
        copy<to>(typed + *displs++ * std::int64_t{8}, packed, bytes);
        packed += bytes;
    }
}

void list_runs(const Lists &lists, char *typed, iovec *segments) {
    for (std::size_t r = 0; r < lists.count; ++r)
        segments[r] = {typed + lists.displs[r] * std::int64_t{8},
                       static_cast<std::size_t>(lists.lengths[r]) * 8};
}

template <To to>
void move_triangle(const Lists &, const Piece &piece, char *__restrict typed,
                   char *__restrict packed) {
    char *const end = packed + piece.bytes;
    std::int64_t skip = piece.skip;
    for (std::int64_t i = piece.first; packed < end; ++i, skip = 0) {
        const std::int64_t bytes = std::min<std::int64_t>((i + 1) * 8 - skip, end - packed);
        copy<to>(typed + i * triangle_side * 8 + skip, packed, bytes);
        packed += bytes;
    }
}

void list_triangle(const Lists &, char *typed, iovec *segments) {
    for (std::int64_t i = 0; i < triangle_side; ++i)
        segments[i] = {typed + i * triangle_side * 8, static_cast<std::size_t>(i + 1) * 8};
}

template <auto vector>
constexpr HandPieces vector_pieces = {move_vector<vector, To::packed>,
                                      move_vector<vector, To::typed>, list_nest<vector>};

struct LayoutPieces {
    std::string_view layout;
    HandPieces pieces;
};
constexpr LayoutPieces table[] = {
    {"indexed, a million runs of 1-4 x 8 B",
     {move_runs<To::packed>, move_runs<To::typed>, list_runs}},
    {"vector 8 B of 512, 16 MiB", vector_pieces<vector_8_of_512_large>},
    {"vector 128 B of 512, 16 MiB", vector_pieces<vector_128_of_512_large>},
    {"4-D subarray 32^4 of 64^4",
     {move_cube<hypercube_32, To::packed>, move_cube<hypercube_32, To::typed>,
      list_nest<hypercube_32>}},
    {"lower triangle, N=2000",
     {move_triangle<To::packed>, move_triangle<To::typed>, list_triangle}},
};

} // namespace

HandPieces pieces_of(std::string_view layout) {
    for (const LayoutPieces &line : table)
        if (line.layout == layout) return line.pieces;
    throw std::logic_error("no loop by hand for pieces of " + std::string(layout));
}

} // namespace bench::hand
