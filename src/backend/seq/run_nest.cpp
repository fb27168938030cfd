#include "layout_walk.h"
#include "nest_plan.h"
#include "plan.h"

#include <algorithm>

namespace ucd::seq {
namespace {

// The position of the block with the packed byte `offset`.
Position locate(const RunnableNest &p, uint64_t offset) {
    Position position{};
    if (offset == 0) return position;
    for (unsigned k = 0; k < p.levels; ++k) {
        const uint64_t child = offset / p.each[k];
        offset -= child * p.each[k];
        if (p.kinds[k] != LevelKind::indexed) {
            position.at[k] = child;
            continue;
        }
        const Level &level = p.nest.level[k];
        const uint64_t *end = level.first + level.count + 1;
        position.at[k] =
            static_cast<uint64_t>(std::upper_bound(level.first, end, child) - level.first) - 1;
        position.in_run[k] = child - level.first[position.at[k]];
    }
    return position;
}

// The sum of the displacements of the outermost `levels` levels.
int64_t displacement_of(const RunnableNest &p, const Position &position, unsigned levels) {
    int64_t displacement = 0;
    for (unsigned k = levels; k-- > 0;) {
        const Level &level = p.nest.level[k];
        if (p.kinds[k] == LevelKind::strided) {
            displacement = displace(displacement, position.at[k], level.stride);
            continue;
        }
        displacement = displace(displacement, level.displs[position.at[k]]);
        if (p.kinds[k] == LevelKind::indexed)
            displacement = displace(displacement, position.in_run[k], level.stride);
    }
    return displacement;
}

int64_t displacement_of(const RunnableNest &p, const Position &position) {
    return displacement_of(p, position, p.levels);
}

void copy(char *typed, char *packed, uint64_t bytes, Direction direction) {
    if (direction == Direction::pack)
        __builtin_memcpy(packed, typed, bytes);
    else
        __builtin_memcpy(typed, packed, bytes);
}

// Moves whole blocks with the nest's kernel.
void run_kernel(const RunnableNest &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                Direction direction) {
    if (begin == end) return;
    p.kernel[static_cast<unsigned>(direction)](p.nest, origin, packed, locate(p, begin),
                                               locate(p, end - p.nest.block));
}

// Moves the whole rows [first, last), which are numbered through all iterations of the levels
// above.
void run_transposed(const RunnableNest &p, char *origin, uint64_t first, uint64_t last,
                    char *packed, Direction direction) {
    const unsigned level = p.row_level, between = level + 1u;
    const uint64_t row = p.each[level];
    // The outermost level has as many rows as the count of the call gives.
    const uint64_t rows_each = level == 0 ? last : p.nest.level[level].count;
    const uint64_t times = between < p.levels - 1u ? p.nest.level[between].count : 1;
    for (uint64_t i = first; i < last;) {
        Matrix m = matrix_of(p, level);
        m.rows = std::min(rows_each - i % rows_each, last - i);
        Position position = locate(p, i * row);
        for (uint64_t k = 0; k < times; ++k) {
            position.at[between] = k;
            p.transpose[static_cast<unsigned>(direction)](
                m, at(origin, displacement_of(p, position)), packed + k * p.each[between]);
        }
        packed += m.rows * row;
        i += m.rows;
    }
}

// Moves whole blocks, in tiles if there are several whole rows.
void run_blocks(const RunnableNest &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                Direction direction) {
    constexpr uint64_t worth_tiling = 4;
    if (!p.transposed()) return run_kernel(p, origin, begin, end, packed, direction);
    const uint64_t row = p.each[p.row_level];
    const uint64_t first_row = (begin + row - 1) / row, last_row = end / row;
    if (last_row < first_row + worth_tiling)
        return run_kernel(p, origin, begin, end, packed, direction);
    run_kernel(p, origin, begin, first_row * row, packed, direction);
    packed += first_row * row - begin;
    run_transposed(p, origin, first_row, last_row, packed, direction);
    packed += (last_row - first_row) * row;
    run_kernel(p, origin, last_row * row, end, packed, direction);
}

constexpr uint64_t widened_at_once = 256; // displacements at a time, which fit in the first-level
                                          // cache

// Moves the packed bytes [begin, end) of a nest whose outermost level is a list. fill(displs,
// count) writes its next displacements, beginning with the block of byte `begin`.
template <class Fill>
void run_filled(RunnableNest list, Fill fill, char *origin, uint64_t begin, uint64_t end,
                char *packed, Direction direction) {
    const uint64_t each = list.each[0];
    int64_t displs[widened_at_once];
    list.nest.level[0].displs = displs;
    while (begin < end) {
        const uint64_t start = begin / each * each;
        const uint64_t count = std::min((end - start + each - 1) / each, widened_at_once);
        fill(displs, count);
        list.nest.level[0].count = count;
        list.last.at[0] = count - 1;
        const uint64_t stop = std::min(end - start, count * each);
        run_nest(list, count, count * each, origin, begin - start, stop, packed, direction);
        packed += start + stop - begin;
        begin = start + stop;
    }
}

// For nests whose innermost list is narrow: walks the levels around it in packed order, and moves
// the list as a nest of its own in each iteration.
void run_narrow(const RunnableNest &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                Direction direction) {
    constexpr LevelKind shape[] = {LevelKind::indexed_block};
    const unsigned around = p.levels - 1u;
    const uint64_t block = p.nest.block, inner = p.nest.level[around].count * block;
    RunnableNest list;
    list.nest = {};
    list.nest.block = block;
    list.kernel[static_cast<unsigned>(direction)] = move_kernel(direction, shape, p.leaf);
    list.levels = 1;
    list.kinds[0] = shape[0];
    list.each[0] = block;
    list.whole_at_once = true;
    while (begin < end) {
        const uint64_t start = begin / inner * inner, stop = std::min(end, start + inner);
        const int64_t displacement = displacement_of(p, locate(p, start), around);
        const uint32_t *next = p.narrow->entries.data() + (begin - start) / block;
        const auto fill = [&next, least = p.narrow->least,
                           shift = p.narrow->shift](int64_t *__restrict displs, uint64_t count) {
            for (uint64_t i = 0; i < count; ++i)
                displs[i] = displace(least, uint64_t{next[i]} << shift, 1);
            next += count;
        };
        run_filled(list, fill, at(origin, displacement), begin - start, stop - start, packed,
                   direction);
        packed += stop - begin;
        begin = stop;
    }
}

} // namespace

void run_part(const RunnableNest &p, char *origin, uint64_t begin, uint64_t end, char *packed,
              Direction direction) {
    if (p.levels == 0)
        return copy(at(origin, static_cast<int64_t>(begin)), packed, end - begin, direction);
    if (p.narrow != nullptr) return run_narrow(p, origin, begin, end, packed, direction);
    const uint64_t block = p.nest.block;
    // The end of a partial block, whole blocks, the beginning of a partial block.
    if (const uint64_t skipped = begin % block; skipped != 0) {
        const uint64_t bytes = std::min(block - skipped, end - begin);
        const int64_t from = displacement_of(p, locate(p, begin - skipped));
        copy(at(origin, displace(from, static_cast<int64_t>(skipped))), packed, bytes, direction);
        begin += bytes;
        packed += bytes;
    }
    const uint64_t rest = (end - begin) % block;
    const uint64_t body = end - begin - rest;
    if (body > 0) {
        run_blocks(p, origin, begin, begin + body, packed, direction);
        packed += body;
        begin += body;
    }
    if (rest > 0) copy(at(origin, displacement_of(p, locate(p, begin))), packed, rest, direction);
}

void run_by_reference(const RunnableNest &plan, const IndexList &list, char *origin, uint64_t begin,
                      uint64_t end, char *packed, Direction direction) {
    uint64_t next = begin / plan.each[0];
    const auto fill = [&](int64_t *displs, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) displs[i] = displacement_at(list, next + i);
        next += count;
    };
    run_filled(plan, fill, origin, begin, end, packed, direction);
}

} // namespace ucd::seq
