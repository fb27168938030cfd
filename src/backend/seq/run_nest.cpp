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
        position.at[k] = entry_holding(Span(level.first, level.count + 1), child);
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

// Moves whole blocks with the nest's kernel.
void run_kernel(const RunnableNest &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                Direction direction) {
    if (begin == end) return;
    p.kernel[static_cast<unsigned>(direction)](p.nest, origin, packed, locate(p, begin),
                                               locate(p, end - p.nest.block));
}

// Moves the bytes [begin, end) of a permuted nest.
void run_permuted(const RunnableNest &p, char *origin, uint64_t begin, uint64_t end, char *packed,
                  Direction direction) {
    const auto typed = reinterpret_cast<uintptr_t>(origin);
    const uintptr_t first = reinterpret_cast<uintptr_t>(packed) - begin;
    if (direction == Direction::pack) return permute(*p.permuted, begin, end, typed, first);
    permute(exchanged(*p.permuted), begin, end, first, typed);
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
    list.kernel[static_cast<unsigned>(direction)] = move_kernel(direction, shape, p.leaf).function;
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
    constexpr uint64_t worth_tiling = 512; // bytes
    if (p.permuted != nullptr && (p.levels == 0 || end - begin >= worth_tiling))
        return run_permuted(p, origin, begin, end, packed, direction);
    if (p.levels == 0)
        return copy_block(direction, at(origin, static_cast<int64_t>(begin)), packed, end - begin);
    if (p.narrow != nullptr) return run_narrow(p, origin, begin, end, packed, direction);
    const uint64_t block = p.nest.block;
    // The end of a partial block, whole blocks, the beginning of a partial block.
    if (const uint64_t skipped = begin % block; skipped != 0) {
        const uint64_t bytes = std::min(block - skipped, end - begin);
        const int64_t from = displacement_of(p, locate(p, begin - skipped));
        copy_block(direction, at(origin, displace(from, static_cast<int64_t>(skipped))), packed,
                   bytes);
        begin += bytes;
        packed += bytes;
    }
    const uint64_t rest = (end - begin) % block;
    const uint64_t body = end - begin - rest;
    if (body > 0) {
        run_kernel(p, origin, begin, begin + body, packed, direction);
        packed += body;
        begin += body;
    }
    if (rest > 0)
        copy_block(direction, at(origin, displacement_of(p, locate(p, begin))), packed, rest);
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
