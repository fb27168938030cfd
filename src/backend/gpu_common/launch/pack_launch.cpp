#include "launch/launch.h"

#include "kernels/copy_kernels.h"
#include "kernels/nest_kernels.h"
#include "launch/launch_context.h"
#include "params/aligned_stores.h"
#include "plan/make_divisor.h"
#include "plan/tiles.h"

#include <algorithm>

namespace ucd::UCD_GPU {
namespace {

// Consecutive bytes --------------------------------------------------------------

Status copy_range(const LaunchContext &launch, uintptr_t place) {
    auto *typed = reinterpret_cast<void *>(place);
    char *const packed = launch.move.packed().first();
    const bool pack = launch.move.direction() == Direction::pack;
    return launch.to.copy(
        PlainCopy{pack ? packed : typed, pack ? typed : packed, launch.move.length});
}

// Nests --------------------------------------------------------------

// The number of vectors that each thread moves. Several save time if displacements come from a list
// of long runs; and for whole vectors, also with any other list, and as long as the data comes from
// a cache. If the device's memory limits the rate, one is best. If the bus to host memory limits
// it, several are better again: fewer instructions leave more of the device to kernels that compute
// at the same time.
uint32_t vectors_per_thread(const LaunchContext &launch) {
    const bool by_bus = touches_host_memory(launch.move);
    const bool listed = is_listed(launch.plan().shape);
    const ShapeLevel &outermost = launch.plan().shape.level[0];
    // performance only: threads move as many vectors as they are told
    const bool long_runs = outermost.kind == LevelKind::indexed &&
                           outermost.each << outermost.granule >= tuning.long_run_bytes;
    if (launch.word == vector_bytes / 2 && launch.plan().shape.levels == 1 && (by_bus || long_runs))
        return max_per_thread<vector_bytes / 2, 1>;
    // performance only: the same
    const bool pays = by_bus || listed || launch.move.length <= tuning.cached_bytes;
    return launch.word == vector_bytes && pays ? max_per_thread<vector_bytes, 1> : 1;
}

// Returns whether the words of a vector are found together.
bool are_found_together(const LaunchContext &launch, const NestParams &params) {
    const Shape &shape = launch.plan().shape;
    const ShapeLevel &innermost = shape.level[shape.levels - 1];
    if (innermost.kind == LevelKind::strided) {
        const uint32_t words = vector_bytes / launch.word;
        return innermost.each == launch.word &&
               (shape.levels == 1 ||
                (innermost.count % words == 0 && params.first_word % words == 0));
    }
    // The kernel for this case counts the words of a run in 32 bits.
    return shape.levels == 1 && innermost.stride == static_cast<int64_t>(innermost.each) &&
           innermost.count * (innermost.each / launch.word) <= UINT32_MAX;
}

// The vectors at either end of the range that may have bytes of its first or last block, or 0 if
// blocks are not packed in pieces. Further blocks have memory of the layout around them.
uint32_t vectors_around_pieces(const LaunchContext &launch) {
    const Shape &shape = launch.plan().shape;
    const uint64_t block = shape.level[shape.levels - 1].each;
    // performance only: words of any width are packed one by one
    if (block < vector_bytes || block >= max_positions) return 0;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (shape.level[k].kind != LevelKind::strided ||
            shape.level[k].stride < int64_t{cell_bytes})
            return 0;
    return static_cast<uint32_t>(block / vector_bytes + 2);
}

Status launch_nest(const LaunchContext &launch) {
    const Shape &shape = launch.plan().shape;
    NestParams params{};
    LevelKind kinds[max_levels];
    UCD_TRY(describe_nest(launch, params, kinds));
    params.per_thread = vectors_per_thread(launch);
    const uint64_t tile = uint64_t{threads_per_block} * params.per_thread;
    params.tiles = static_cast<uint32_t>((params.vectors + tile - 1) / tile);
    // With pinned memory, narrow loads across the bus would cost more than adjacent stores gain.
    params.neighbours = launch.move.packed_kind() != MemoryKind::pinned;
    params.together = are_found_together(launch, params);
    params.pieces = vectors_around_pieces(launch);
    const NestKernel &kernel =
        nest_kernel(launch.move.direction(), {kinds, shape.levels}, launch.word);
    return launch.to.launch(kernel.handle, params.tiles,
                            max_blocks(launch.to.device(), launch.move), params);
}

// Permutations --------------------------------------------------------------

// The whole elements of a range, in tiles.
struct TiledRange {
    uint64_t begin, end; // in the stream
    TilesParams params;
};

// Returns false if the range is too small for tiles, which would read much more than the range.
bool tile_range(const LaunchContext &launch, TiledRange &range) {
    const LayoutPlan &plan = launch.plan();
    const uint64_t begin = launch.side.offset, end = begin + launch.move.length;
    const uint64_t word = plan.permuted_word;
    if (launch.word < word) return false;
    range.begin = (begin + word - 1) / word * word;
    range.end = end / word * word;
    if (range.begin >= range.end) return false;
    const uint64_t bytes = range.end - range.begin;
    const Node top = launch.top();
    const bool pack = launch.move.direction() == Direction::pack;
    PackedNest packed;
    if (!cover_range({plan.layout, top, range.begin}, bytes, packed)) return false;
    if (!pack) packed.reverse();
    TilesParams &params = range.params;
    const auto width = static_cast<uint32_t>(word);
    const uintptr_t typed = launch.typed() + static_cast<uintptr_t>(packed.start);
    const uintptr_t stream = launch.stream_base() + packed.position;
    const TilePlace at{pack ? typed : stream, pack ? stream : typed};
    if (!make_copy_tiles(packed.nest.levels, at, width, tuning, params)) return false;
    if (bytes < packed.nest.bytes()) params.limited = pack ? limit_target : limit_source;
    // performance only: channels are moved whole, and other kernels move any part
    if (params.channels > 0 && params.limited != limit_nothing) return false;
    params.begin = launch.stream_base() + range.begin;
    params.bytes = bytes;
    place_tiles(at, {width, width}, params);
    make_windows(width, tuning, params);
    return true;
}

// Aligned stores --------------------------------------------------------------

// Returns false if the buffer's alignment does not allow it, or if the range has too many stores.
bool aligned_stores_params(const LaunchContext &launch, AlignedStoresParams &params) {
    const LayoutPlan &plan = launch.plan();
    if (plan.aligned_stores.empty() || launch.move.direction() != Direction::unpack ||
        launch.typed() % max_store_bytes != 0)
        return false;
    const uint64_t each = plan.shape.level[0].each;
    const uint64_t skipped = launch.side.offset / each; // children of the outermost level
    params = {};
    AlignedStoresRange &range = params.range;
    range.begin = launch.side.offset - skipped * each;
    range.end = range.begin + launch.move.length;
    range.packed = launch.stream_base() + skipped * each;
    params.typed = launch.typed() + skipped * static_cast<uint64_t>(plan.shape.level[0].stride);
    const uint64_t first = range.begin / plan.period, last = (range.end - 1) / plan.period;
    const uint64_t count = (last - first + 1) * plan.stores;
    if (last >= max_positions || count >= max_positions) return false;
    range.first = static_cast<uint32_t>(first);
    range.count = static_cast<uint32_t>(count);
    range.stores = make_divisor(plan.stores);
    params.period = static_cast<uint32_t>(plan.period);
    params.levels = plan.levels_around_stores;
    for (uint32_t k = 0; k < params.levels; ++k) {
        const int64_t stride = plan.shape.level[k].stride / max_store_bytes;
        if (!fits_32_bits(stride)) return false;
        params.level[k] = {make_divisor(plan.shape.level[k].each / plan.period),
                           static_cast<int32_t>(stride)};
    }
    return true;
}

Status launch_aligned_stores(const LaunchContext &launch, AlignedStoresParams &params) {
    UCD_TRY(launch.to.use(*launch.gpu_plan().aligned_stores, params.range.list));
    const uint64_t blocks =
        (uint64_t{params.range.count} + threads_per_block - 1) / threads_per_block;
    // Not limited to few blocks for host memory, which would be slower: each thread does little
    // work.
    return launch.to.launch(aligned_stores_kernel(), blocks, launch.move.limits.max_blocks, params);
}

// The interpreter --------------------------------------------------------------

Status launch_interpreter(const LaunchContext &launch) {
    InterpreterParams params{};
    UCD_TRY(use_interpreter(launch.to, launch.gpu_plan().interpreter(), params.layout));
    params.layout.typed = launch.typed();
    // performance only: a width of 1 gives the same result
    params.width = launch.word;
    launch.put_vectors(params);
    params.position = launch.side.offset - params.head;
    const uint64_t blocks = (params.vectors + threads_per_block - 1) / threads_per_block;
    const void *const kernel = interpreter_kernel(launch.move.direction());
    // With a count that is much larger than that of ucd_prepare, it may not have been loaded yet.
    if (launch.to.is_captured()) UCD_TRY(load_kernels({kernel}));
    return launch.to.launch(kernel, blocks, max_blocks(launch.to.device(), launch.move), params);
}

// In the order of the stream.
Status launch_in_order(const LaunchContext &launch) {
    const Move &move = launch.move;
    const Shape &shape = launch.plan().shape;
    if (move.length == 0) return success;
    AlignedStoresParams stores;
    if (aligned_stores_params(launch, stores)) return launch_aligned_stores(launch, stores);
    if (fits_nest(shape, skipped_bytes(shape, launch.side.offset), move.range(), launch.word))
        return launch_nest(launch);
    return launch_interpreter(launch);
}

// A part of the range, given by its ends in the stream.
Status launch_part(const LaunchContext &launch, uint64_t begin, uint64_t end) {
    const Move part = launch.move.part(begin - launch.side.offset, end - begin);
    return launch_in_order(LaunchContext(launch.to, part));
}

Status load_pack_kernels(const GpuPlan &gpu_plan, uint64_t count) {
    const LayoutPlan &plan = gpu_plan.host;
    const Shape &shape = plan.shape;
    LevelKind kinds[max_levels];
    for (unsigned k = 0; k < shape.levels; ++k) kinds[k] = shape.level[k].kind;
    if (plan.permuted_word > 0)
        UCD_TRY(load_kernels({copy_tiles_kernel(plan.permuted_word).one,
                              copy_windows_kernel(plan.permuted_word).one}));
    if (plan.permuted_word > 0 && plan.permuted_word < cell_bytes)
        UCD_TRY(load_kernels({copy_channels_kernel(plan.permuted_word).one}));
    if (!plan.aligned_stores.empty()) UCD_TRY(load_kernels({aligned_stores_kernel()}));
    for (const Direction d : {Direction::pack, Direction::unpack}) {
        if (gpu_plan.may_need_interpreter(count)) UCD_TRY(load_kernels({interpreter_kernel(d)}));
        for (unsigned width = 1; shape.levels > 0 && width <= plan.word; width *= 2)
            UCD_TRY(load_kernels({nest_kernel(d, {kinds, shape.levels}, width).handle}));
    }
    return success;
}

} // namespace

Status launch_pack(LaunchTarget &to, const Move &move) {
    const LaunchContext launch(to, move);
    const LayoutPlan &plan = launch.plan();
    if (plan.contiguous) return copy_range(launch, launch.typed() + launch.side.offset);
    bool launched;
    UCD_TRY(launch_if_faster(to, move, launched));
    if (launched) return success;
    TiledRange range;
    if (plan.permuted_word == 0 || !tile_range(launch, range)) return launch_in_order(launch);
    // Elements that the range cuts are moved on their own.
    UCD_TRY(launch_part(launch, launch.side.offset, range.begin));
    const unsigned word = plan.permuted_word;
    UCD_TRY(to.launch(tiles_kernel(range.params, word).one, range.params.tiles,
                      max_blocks(to.device(), move), range.params));
    return launch_part(launch, range.end, launch.side.offset + move.length);
}

Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count) {
    if (!plan.host.contiguous && plan.host.size > 0) {
        ListStore &store = device.lists();
        UCD_TRY(load_pack_kernels(plan, count));
        if (plan.lists != nullptr) UCD_TRY(store.prepare(*plan.lists, device));
        if (plan.aligned_stores != nullptr) UCD_TRY(store.prepare(*plan.aligned_stores, device));
        if (plan.may_need_interpreter(count))
            UCD_TRY(store.prepare(plan.interpreter().lists, device));
    }
    plan.set_prepared(device.index());
    return success;
}

} // namespace ucd::UCD_GPU
