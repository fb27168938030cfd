#include "launch/launch.h"

#include "kernels/copy_kernels.h"
#include "launch/copy_places.h"
#include "launch/launch_context.h"
#include "launch/member_tables.h"
#include "params/copy.h"
#include "plan/copy_nest.h"
#include "plan/make_divisor.h"
#include "plan/tiles.h"

#include <algorithm>
#include <bit>

namespace ucd::UCD_GPU {
namespace {

struct CopyLaunch {
    LaunchTarget &target;
    MemberTables &tables;
    const Move &move;
    PlannedSide from, to;
    bool is_alone;    // not a member of a batch
    bool one_of_many; // a member of a batch with more words than the device has threads

    template <class Params>
    Status launch(const CopyKernel &kernel, uint64_t tiles, Params &params) const {
        return tables.add_or_launch(kernel.one, kernel.batch, params, tiles,
                                    move.limits.max_blocks);
    }
};

// A thread copies several words if there are more words than threads on the device.
bool are_many(const CopyLaunch &copy, uint64_t words) {
    constexpr uint64_t several = uint64_t{threads_per_block} * copy_words_per_thread;
    return words >= tuning.many_threads || (copy.one_of_many && words >= several);
}

// Strided on both sides ----------------------------------------------------------

// Orders the levels so that the words of a warp are as close together as possible.
void put_in_order(CopyNest &nest, uint32_t word) {
    using Level = CopyNest::Level;
    CopyNest by_source = nest;
    sort_levels(by_source, &Level::from);
    sort_levels(nest, &Level::to);
    if (std::equal(nest.levels.begin(), nest.levels.end(), by_source.levels.begin())) return;
    const bool to_target = jumps_of(nest, word, tuning) <= jumps_of(by_source, word, tuning);
    if (!to_target) nest = by_source;
    // performance only: any order copies the same words
    keep_neighbours_together(nest, to_target ? &Level::from : &Level::to, tuning);
}

// Copies in tiles if the fastest levels of the sides differ, otherwise in rows.
Status launch_nest(const CopyLaunch &copy, const PlacedNest &placed) {
    const uint32_t word = placed.word();
    TilesParams tiles;
    const TilePlace at{placed.from, placed.to};
    if (placed.nest.block == word && make_copy_tiles(placed.nest.levels, at, word, tuning, tiles)) {
        place_tiles(at, {word, word}, tiles);
        make_windows(word, tuning, tiles);
        return copy.launch(tiles_kernel(tiles, word), tiles.tiles, tiles);
    }
    CopyNest rows = placed.nest;
    put_in_order(rows, word);
    if (rows.block > word) rows.levels.push_back({rows.block / word, word, word});
    CopyRowsParams params{};
    params.from = placed.from;
    params.to = placed.to;
    put_levels(rows.levels, 1, params.level);
    params.levels = static_cast<uint32_t>(rows.levels.size());
    const uint64_t words = placed.words();
    share_words(words, are_many(copy, words), params);
    return copy.launch(copy_rows_kernel(word), params.tiles, params);
}

// Whether the copy consists of nests on both sides that are large enough for a launch each.
bool are_nests(const CopyLaunch &copy, CopyNests &nests) {
    if (!join_strides({copy.from.plan().layout, copy.from.top(), copy.from.side.offset},
                      {copy.to.plan().layout, copy.to.top(), copy.to.side.offset}, copy.move.length,
                      nests))
        return false;
    constexpr std::size_t added = 2; // for the words of a block, and for a divided level
    const bool fit = std::all_of(nests.begin(), nests.end(), [](const PlacedCopyNest &placed) {
        return placed.nest.levels.size() + added <= max_copy_levels;
    });
    // performance only: otherwise the words are copied one by one in stream order
    return fit && (nests.size() == 1 || copy.move.length >= tuning.min_cut_copy);
}

// Anything else ----------------------------------------------------------

Status launch_places(const CopyLaunch &copy, const CopyRange &range, uint32_t word) {
    CopyPlacesParams params{};
    UCD_TRY(describe_rows(copy.target, copy.from, copy.to, range, {word, word}, params));
    share_words(range.length / word, are_many(copy, range.length / word), params);
    return copy.launch(copy_places_kernel(word), params.tiles, params);
}

Status launch_interpreters(const CopyLaunch &copy, const CopyRange &range, uint32_t word) {
    CopyInterpretersParams params{};
    UCD_TRY(use_interpreter(copy.target, copy.from.gpu_plan().interpreter(), params.from));
    UCD_TRY(use_interpreter(copy.target, copy.to.gpu_plan().interpreter(), params.to));
    params.from.typed = copy.from.typed();
    params.to.typed = copy.to.typed();
    params.first_from = range.from;
    params.first_to = range.to;
    params.bytes = range.length;
    params.shift = std::min(static_cast<uint32_t>(std::countr_zero(word)), 3U);
    constexpr uint64_t share = uint64_t{threads_per_block} * vector_bytes;
    return copy.launch(copy_interpreters_kernel(), (params.bytes + share - 1) / share, params);
}

// Copies a range in stream order.
Status launch_range(const CopyLaunch &copy, const CopyRange &range) {
    if (range.length == 0) return success;
    const PlannedSide &from = copy.from, &to = copy.to;
    const uint64_t layouts = from.plan().word | to.plan().word | from.typed() | to.typed();
    const uint32_t word = common_alignment(layouts | range.from | range.to | range.length);
    if (fits_places(from, {range.from, range.length}, word) &&
        fits_places(to, {range.to, range.length}, word))
        return launch_places(copy, range, word);
    return launch_interpreters(copy, range, word);
}

Status launch_in_order(const CopyLaunch &copy) {
    const PlannedSide &from = copy.from, &to = copy.to;
    const CopyRange all{from.side.offset, to.side.offset, copy.move.length};
    const uint32_t word = common_alignment(from.plan().word | to.plan().word | from.typed() |
                                           to.typed() | (all.from - all.to));
    // performance only: if it is not divided, all words are as narrow as those at the ends
    if (all.length < tuning.min_cut_copy) return launch_range(copy, all);
    // The wide words, and the bytes before and after them.
    const uint64_t head = (word - all.from % word) % word;
    const uint64_t words = (all.length - head) / word * word;
    UCD_TRY(launch_range(copy, {all.from, all.to, head}));
    UCD_TRY(launch_range(copy, {all.from + head, all.to + head, words}));
    const uint64_t done = head + words;
    return launch_range(copy, {all.from + done, all.to + done, all.length - done});
}

Status launch_copy(const CopyLaunch &copy) {
    CopyNests nests;
    if (!are_nests(copy, nests)) return launch_in_order(copy);
    for (const PlacedCopyNest &displaced : nests) {
        const PlacedNest placed{displaced.nest,
                                copy.from.typed() + static_cast<uintptr_t>(displaced.from),
                                copy.to.typed() + static_cast<uintptr_t>(displaced.to)};
        bool launched = false;
        if (copy.is_alone && nests.size() == 1)
            UCD_TRY(launch_if_faster(copy.target, copy.move, placed, launched));
        if (launched) return success;
        NestParts parts(placed.nest, placed.from, placed.to);
        for (; !parts.is_over(); parts.next()) UCD_TRY(launch_nest(copy, parts.part()));
    }
    return success;
}

// Loads the kernels for words of up to this many bytes.
Status load_copy_kernels(uint32_t most, CopyKernel (*kernel)(unsigned width)) {
    for (uint32_t width = 1; width <= most; width *= 2)
        UCD_TRY(load_kernels({kernel(width).one, kernel(width).batch}));
    return success;
}

} // namespace

Status launch_copies(LaunchTarget &to, std::span<const Move> copies) {
    if (copies.empty()) return success;
    MemberTables tables(to, copies.size());
    uint64_t bytes = 0;
    for (const Move &move : copies) bytes += move.length;
    const bool alone = copies.size() == 1;
    const bool many = !alone && bytes / vector_bytes >= tuning.many_threads;
    for (const Move &move : copies)
        UCD_TRY(launch_copy({to, tables, move, {move.from}, {move.to}, alone, many}));
    return tables.launch(copies.front().limits.max_blocks);
}

Status prepare_copies(const GpuPlan &plan) {
    // These kernels are many, and the choice depends on both sides of the copy, so they are loaded
    // only where captures need them.
    if constexpr (!captures_streams) return success;
    UCD_TRY(load_copy_kernels(plan.host.word, copy_places_kernel));
    UCD_TRY(load_kernels({copy_interpreters_kernel().one, copy_interpreters_kernel().batch}));
    if (is_listed(plan.host.shape)) return success;
    // Joined nests may have wider words than the plan, where blocks are contiguous.
    UCD_TRY(load_copy_kernels(vector_bytes, copy_rows_kernel));
    UCD_TRY(load_copy_kernels(vector_bytes, copy_windows_kernel));
    UCD_TRY(load_copy_kernels(cell_bytes / 2, copy_channels_kernel));
    return load_copy_kernels(vector_bytes, copy_tiles_kernel);
}

} // namespace ucd::UCD_GPU
