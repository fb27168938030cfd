#include "permute.h"

#include "axes_range.h"
#include "cpu_tuning.h"
#include "kernel_tables.h"
#include "loop_order.h"

#include <algorithm>
#include <cstring>

namespace ucd::seq {
namespace {

// The iterations of joined loops in portions of similar length, each of whole cache lines where
// possible.
struct Portions {
    static constexpr uint64_t longest = 1024;
    uint64_t total, each;

    // `listed`: whether their lines must be listed.
    Portions(uint64_t iterations, bool listed) : total(iterations), each(iterations) {
        if (!listed) return;
        const uint64_t pieces = (total + longest - 1) / longest;
        each = (total + pieces - 1) / pieces;
        each = std::min((each + line - 1) / line * line, longest);
    }
    bool one() const { return total <= each; }
};

void move_whole(const Axes &axes, uintptr_t from, uintptr_t to) {
    const LoopOrder loops(axes);
    if (loops.columns.count == 0 && loops.rows.count == 0 && loops.others_count == 0) {
        std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), loops.block);
        return;
    }
    uint64_t bytes = loops.block * loops.columns.total * loops.rows.total;
    for (unsigned k = 0; k < loops.others_count; ++k) bytes *= loops.others[k]->count;

    const TransposeKernel kernel = transpose_kernel(leaf_for_block(loops.block)).function;
    int64_t from_lines[Portions::longest], to_lines[Portions::longest];
    const bool to_adjacent = loops.interleaves(loops.rows, loops.columns, &Axis::from, &Axis::to);
    // A small square is both, and its lines must be listed on one side.
    const bool from_adjacent =
        !to_adjacent && loops.interleaves(loops.columns, loops.rows, &Axis::to, &Axis::from);
    const Portions rows(loops.rows.total, !from_adjacent),
        columns(loops.columns.total, !to_adjacent);
    const bool listed_once = rows.one() && columns.one();
    Matrix m{};
    m.from_lines = from_lines;
    m.to_lines = to_lines;
    m.from_step = loops.columns.count > 0 ? loops.columns.axis[0]->from.stride : 0;
    m.to_step = loops.rows.count > 0 ? loops.rows.axis[0]->to.stride : 0;
    m.block = loops.block;
    m.from_adjacent = from_adjacent;
    m.to_adjacent = to_adjacent;
    m.past_caches = bytes >= past_caches;
    m.unaligned_past_caches = cpu_tuning->unaligned_past_caches; // performance only: see there
    const auto list_lines = [&](uint64_t row, uint64_t column) {
        loops.rows.list(&Axis::from, row, from_adjacent ? 1 : m.from_count, from_lines);
        loops.columns.list(&Axis::to, column, to_adjacent ? 1 : m.to_count, to_lines);
    };

    const auto move_piece = [&](uint64_t row, uint64_t column, int64_t from_at, int64_t to_at) {
        m.from_count = std::min(rows.each, rows.total - row);
        m.to_count = std::min(columns.each, columns.total - column);
        if (!listed_once) list_lines(row, column);
        m.from = displaced(displaced(from, from_at), displace(0, column, m.from_step));
        m.to = displaced(displaced(to, to_at), displace(0, row, m.to_step));
        kernel(m);
    };
    if (listed_once) {
        m.from_count = rows.total;
        m.to_count = columns.total;
        list_lines(0, 0);
    }
    uint64_t index[max_axes] = {};
    do {
        const int64_t from_at = place_of(loops, index, &Axis::from);
        const int64_t to_at = place_of(loops, index, &Axis::to);
        for (uint64_t row = 0; row < rows.total; row += rows.each)
            for (uint64_t column = 0; column < columns.total; column += columns.each)
                move_piece(row, column, from_at, to_at);
    } while (advance(loops, index));
}

} // namespace

void permute(const Axes &axes, uint64_t begin, uint64_t end, uintptr_t from, uintptr_t to) {
    const auto move_part = [](uintptr_t part_from, uintptr_t part_to, uint64_t bytes) {
        std::memcpy(reinterpret_cast<void *>(part_to), reinterpret_cast<void *>(part_from), bytes);
    };
    RangeOfAxes(axes, move_whole, move_part).run(0, begin, end, from, to);
}

bool find_axes(const Layout &layout, const Node &top, Axes &axes) {
    axes.count = 0;
    const Node *n = &top;
    for (; n->kind != NodeKind::block; n = &layout.nodes[n->child]) {
        if (axes.count == max_axes) return false;
        Axis &axis = axes.axis[axes.count++];
        axis = {n->count, {n->stride, nullptr}, {0, nullptr}};
        axis.to.stride = static_cast<int64_t>(layout.nodes[n->child].bytes);
        if (n->kind == NodeKind::indexed_block)
            axis.from.displs = layout.tables[n->table].displs.data();
        else if (n->kind != NodeKind::strided)
            return false;
    }
    axes.block = n->bytes;
    return true;
}

bool is_permuted(const Axes &given, bool open_ended) {
    if (given.count < 2 || given.block >= line) return false;
    Axes axes = given;
    constexpr uint64_t many = 1 << 20;
    if (open_ended) axes.axis[0].count = many;
    const Axis &packed_fastest = given.axis[given.count - 1];
    if (packed_fastest.from.displs != nullptr) return false;
    const LoopOrder loops(axes);
    if (loops.block != given.block || loops.columns.count == 0 || loops.rows.count == 0)
        return false;
    if (loops.interleaves(loops.rows, loops.columns, &Axis::from, &Axis::to) ||
        loops.interleaves(loops.columns, loops.rows, &Axis::to, &Axis::from))
        return true;
    const uint64_t block = loops.block, side = 4; // of the smallest tiles
    const Axis &column = *loops.columns.axis[0];
    if (distance(column.from) >= line) return false;
    for (unsigned k = 0; k < axes.count; ++k)
        if (const Axis &a = axes.axis[k];
            a.count > 1 && a.from.displs != nullptr && distance(a.from) < distance(column.from))
            return false;
    if (loops.columns.total < side) return false;
    const bool words = (block & (block - 1)) == 0 && block <= 16;
    const bool vectors = words && column.from.stride == static_cast<int64_t>(block);
    if (distance(packed_fastest.from) >= line) return loops.rows.total >= side;
    const uint64_t vector_side = std::max(side, 8 / block);
    return vectors && loops.rows.total >= vector_side && loops.columns.total >= vector_side;
}

bool pays_in_one_pass(const Axes &axes) {
    const LoopOrder loops(axes);
    const uint64_t block = loops.block;
    if (loops.columns.count == 0 || block >= line) return true;
    if (loops.rows.count == 0) return false;
    if (loops.interleaves(loops.rows, loops.columns, &Axis::from, &Axis::to) ||
        loops.interleaves(loops.columns, loops.rows, &Axis::to, &Axis::from))
        return true;
    const uint64_t side = std::max<uint64_t>(4, 8 / block);
    return (block & (block - 1)) == 0 && block <= 16 && loops.rows.total >= side &&
           loops.columns.total >= side && loops.is_contiguous(loops.columns, &Axis::from) &&
           loops.is_contiguous(loops.rows, &Axis::to);
}

Axes exchanged(const Axes &axes) {
    Axes result = axes;
    for (unsigned k = 0; k < axes.count; ++k) std::swap(result.axis[k].from, result.axis[k].to);
    return result;
}

} // namespace ucd::seq
