// Moves lists of blocks as the caller described them, with the kernels for layouts of one level.
#include "in_threads.h"
#include "kernel_tables.h"
#include "list_looks.h"
#include "nest.h"
#include "plan.h"
#include "useful_threads.h"

#include <algorithm>

namespace ucd {
namespace seq {
namespace {

// Moves at least one block; all have `bytes` bytes.
void move_blocks(const PlainBlocks &list, const ListMove &move, uint64_t bytes,
                 const int64_t *displs, std::size_t count, char *packed) {
    constexpr LevelKind shape[] = {LevelKind::indexed_block};
    Nest nest{};
    nest.level[0] = {count, 0, displs, nullptr};
    nest.block = bytes;
    move_kernel(move.direction, shape, leaf_for_block(bytes))
        .function(nest, at(move.typed(), list.shift), packed, Position{}, {{count - 1}, {}});
}

// Moves runs of units of `list.bytes`, none of which is empty.
void move_runs(const PlainBlocks &list, const ListMove &move, const int64_t *displs,
               const uint64_t *first, std::size_t count, char *packed) {
    constexpr LevelKind shape[] = {LevelKind::indexed};
    Nest nest{};
    nest.level[0] = {count, static_cast<int64_t>(list.bytes), displs, first};
    nest.block = list.bytes;
    nest.longest_run = list.longest * list.bytes;
    nest.runs = list.displs.size();
    move_kernel(move.direction, shape, leaf_for_runs(list.bytes))
        .function(nest, at(move.typed(), list.shift), packed, Position{},
                  {{count - 1}, {first[count] - first[count - 1] - 1}});
}

// Moves the entries [begin, end), of which some are empty. Kernels do not accept those.
void move_full_ones(const PlainBlocks &list, const ListMove &move, std::size_t begin,
                    std::size_t end, char *packed) {
    constexpr std::size_t at_once = 512; // they fit in the first-level cache
    int64_t displs[at_once];
    uint64_t first[at_once + 1];
    while (begin < end) {
        std::size_t full = 0; // the next entry overwrites an empty one
        const std::size_t part_end = std::min(end, begin + at_once);
        for (; begin < part_end; ++begin) {
            displs[full] = list.displs[begin];
            first[full] = list.first[begin];
            full += list.first[begin + 1] > list.first[begin];
        }
        first[full] = list.first[part_end];
        if (full == 0) continue;
        move_runs(list, move, displs, first, full, packed);
        packed += (first[full] - first[0]) * list.bytes;
    }
}

// Moves part `i` of `parts` with equal numbers of entries. Not inlined, because there are two
// callers.
[[gnu::noinline]] void move_share(const PlainBlocks &list, const ListMove &move, unsigned parts,
                                  unsigned i) {
    const std::size_t count = list.displs.size();
    const std::size_t begin = count / parts * i;
    const std::size_t end = i + 1 == parts ? count : begin + count / parts;
    if (begin == end) return;
    const uint64_t before = list.first != nullptr ? list.first[begin] - list.first[0] : begin;
    char *const packed = move.packed() + before * list.bytes;
    const int64_t *const displs = &list.displs[begin];
    if (list.shortest == list.longest)
        move_blocks(list, move, list.longest * list.bytes, displs, end - begin, packed);
    else if (list.shortest > 0)
        move_runs(list, move, displs, &list.first[begin], end - begin, packed);
    else
        move_full_ones(list, move, begin, end, packed);
}

} // namespace
} // namespace seq

void move_list(const PlainBlocks &list, const ListMove &move) {
    const unsigned threads = seq::useful_threads(move.length, move.threads);
    if (threads == 1) return seq::move_share(list, move, 1, 0);
    in_threads(threads, [&](unsigned i) { seq::move_share(list, move, threads, i); });
}

CopiedList copy_list(std::span<const int64_t> list, int64_t origin, int64_t unit, int64_t *to) {
    return seq::list_looks().copy(list.data(), list.size(), origin, unit, to);
}

BlocksLook look_at_blocks(std::span<const int64_t> displs, const int64_t *lengths) {
    return seq::list_looks().blocks(displs.data(), lengths, displs.size());
}

} // namespace ucd
