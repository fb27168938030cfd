// Moves lists of blocks as the caller described them, with the kernels for layouts of one level.
#include "in_threads.h"
#include "kernel_tables.h"
#include "list_looks.h"
#include "nest.h"
#include "plan.h"
#include "useful_threads.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace ucd {
namespace seq {
namespace {

// The number of displacements in bytes that are computed at a time; they fit in the first-level
// cache.
constexpr std::size_t at_once = 512;

// Moves at least one block; all have `bytes` bytes and lie at displs[i] << shift.
void move_blocks(const PlainBlocks &list, const ListMove &move, uint64_t bytes,
                 const int64_t *displs, int shift, std::size_t count, char *packed) {
    constexpr LevelKind shape[] = {LevelKind::indexed_block};
    Nest nest{};
    nest.level[0] = {count, shift, displs, nullptr};
    nest.block = bytes;
    move_kernel(move.direction, shape, leaf_for_block(bytes))
        .function(nest, at(move.typed(), list.shift), packed, Position{}, {{count - 1}, {}});
}

// Moves the entries [begin, end), which all have the same length.
void move_equal(const PlainBlocks &list, const ListMove &move, std::size_t begin, std::size_t end,
                char *packed) {
    const auto displs = list.displs;
    const auto unit = static_cast<uint64_t>(list.unit);
    if (unit == 1 || (takes_units(leaf_for_block(list.bytes)) && std::has_single_bit(unit)))
        return move_blocks(list, move, list.bytes, &displs[begin], std::countr_zero(unit),
                           end - begin, packed);
    int64_t part[at_once];
    for (std::size_t size; begin < end; begin += size, packed += size * list.bytes) {
        size = std::min(end - begin, at_once);
        list_looks().scale(&displs[begin], size, list.unit, part);
        move_blocks(list, move, list.bytes, part, 0, size, packed);
    }
}

// Moves blocks with individual lengths in units of `list.bytes`, none of which is empty.
char *move_runs(const PlainBlocks &list, const ListMove &move, const int64_t *displs,
                const uint64_t *first, uint64_t longest, std::size_t count, char *packed) {
    const uint64_t units = first[count];
    if (longest * count == units) {
        move_blocks(list, move, longest * list.bytes, displs, 0, count, packed);
    } else {
        constexpr LevelKind shape[] = {LevelKind::indexed};
        Nest nest{};
        nest.level[0] = {count, static_cast<int64_t>(list.bytes), displs, first};
        nest.block = list.bytes;
        nest.longest_run = longest * list.bytes;
        nest.runs = list.displs.size();
        move_kernel(move.direction, shape, leaf_for_runs(list.bytes))
            .function(nest, at(move.typed(), list.shift), packed, Position{},
                      {{count - 1}, {first[count] - first[count - 1] - 1}});
    }
    return packed + units * list.bytes;
}

// Moves the entries [begin, end), which have individual lengths.
void move_own(const PlainBlocks &list, const ListMove &move, std::size_t begin, std::size_t end,
              char *packed) {
    int64_t displs[at_once];
    uint64_t first[at_once + 1];
    while (begin < end) {
        const std::size_t size = std::min(end - begin, at_once);
        list_looks().scale(&list.displs[begin], size, list.unit, displs);
        // Kernels do not accept empty blocks: the next entry overwrites them.
        std::size_t count = 0;
        uint64_t units = 0, longest = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto length = static_cast<uint64_t>(list.lengths[begin + i]);
            displs[count] = displs[i];
            first[count] = units;
            units += length;
            longest = std::max(longest, length);
            count += length > 0;
        }
        first[count] = units;
        if (count > 0) packed = move_runs(list, move, displs, first, longest, count, packed);
        begin += size;
    }
}

// Moves part `i` of `parts` with equal numbers of entries. Not inlined, because there are two
// callers.
[[gnu::noinline]] void move_share(const PlainBlocks &list, const ListMove &move, unsigned parts,
                                  unsigned i) {
    const std::size_t count = list.displs.size();
    const std::size_t begin = count / parts * i;
    const std::size_t end = i + 1 == parts ? count : begin + count / parts;
    uint64_t before = begin;
    if (list.lengths != nullptr)
        before =
            static_cast<uint64_t>(std::accumulate(list.lengths, list.lengths + begin, int64_t{0}));
    char *const packed = move.packed() + before * list.bytes;
    if (list.lengths != nullptr)
        move_own(list, move, begin, end, packed);
    else if (begin < end)
        move_equal(list, move, begin, end, packed);
}

} // namespace
} // namespace seq

void move_list(const PlainBlocks &list, const ListMove &move) {
    const unsigned threads = seq::useful_threads(move.length, move.threads);
    if (threads == 1) return seq::move_share(list, move, 1, 0);
    in_threads(threads, [&](unsigned i) { seq::move_share(list, move, threads, i); });
}

CopiedList copy_list(std::span<const int64_t> list, int64_t *to) {
    return seq::list_looks().copy(list.data(), list.size(), to);
}

BlocksLook look_at_blocks(std::span<const int64_t> displs, const int64_t *lengths) {
    return seq::list_looks().blocks(displs.data(), lengths, displs.size());
}

} // namespace ucd
