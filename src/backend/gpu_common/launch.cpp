#include "launch.h"

#include "box_copy.h"
#include "nest_kernels.h"
#include "pieces.h"
#include "reduction.h"
#include "transpose.h"
#include "work.h"

#include <algorithm>

namespace ucd::UCD_GPU {
namespace {

// Consecutive bytes --------------------------------------------------------------

Status copy_range(const Work &work, uintptr_t place) {
    auto *laid_out = reinterpret_cast<void *>(place);
    const bool pack = work.job.direction == Direction::pack;
    return check(gpuMemcpyAsync(pack ? work.job.packed : laid_out,
                                pack ? laid_out : work.job.packed, work.job.length,
                                gpuMemcpyDefault, work.stream),
                 "copying");
}

// Nests --------------------------------------------------------------

// A few while places come from a list of long runs or, of whole vectors, from any list or the data
// from a cache; one where the device's memory is what limits. And a few where the bus does: there
// they save instructions, for each of which a warp waits long beside a computing kernel.
uint32_t vectors_per_thread(const Work &work) {
    constexpr uint64_t cached = uint64_t{32} << 20;
    constexpr uint64_t long_run = 512;
    const bool by_bus = touches_host_memory(work.job);
    const bool listed = work.plan.tables != nullptr;
    const ShapeLevel &outermost = work.plan.shape.level[0];
    const bool long_runs =
        outermost.kind == LevelKind::varying && outermost.each << outermost.granule >= long_run;
    if (work.word == vector_bytes / 2 && work.plan.shape.levels == 1 && (by_bus || long_runs))
        return most_per_thread<vector_bytes / 2, 1>;
    const bool several =
        work.word == vector_bytes && (by_bus || listed || work.job.length <= cached);
    return several ? most_per_thread<vector_bytes, 1> : 1;
}

Status launch_nest(Work &work) {
    const Shape &shape = work.plan.shape;
    NestParams params{};
    LevelKind kinds[max_levels];
    UCD_TRY(describe_nest(work, params, kinds));
    params.per_thread = vectors_per_thread(work);
    const uint64_t tile = uint64_t{threads_per_block} * params.per_thread;
    params.tiles = static_cast<uint32_t>((params.vectors + tile - 1) / tile);
    // Narrow loads across the bus would cost more than what stores close together gain.
    params.neighbours = work.job.packed_kind != MemoryKind::pinned;
    const ShapeLevel &innermost = shape.level[shape.levels - 1];
    // Where runs end, that way counts in words of 32 bits.
    params.dense = shape.levels == 1 && innermost.stride == static_cast<int64_t>(innermost.each) &&
                   innermost.count * (innermost.each / work.word) <= UINT32_MAX;
    const NestKernel &kernel = nest_kernel(work.job.direction, {kinds, shape.levels}, work.word);
    return launch_kernel(work.stream, kernel.handle, params.tiles,
                         max_blocks(work.device, work.job), params);
}

// Transposes --------------------------------------------------------------

uint64_t tiles_along(uint64_t elements) {
    return (elements + tile_side - 1) / tile_side;
}

// False if tiles are not the way for this range: it is small against what they would look at.
bool transpose_params(const Work &work, TransposeParams &params) {
    const Shape &shape = work.plan.shape;
    const unsigned column = shape.levels - 1, row = work.plan.matrix.row;
    const ShapeLevel &columns = shape.level[column];
    if (work.word < columns.each) return false;
    // Of the outermost level, only the children that the range touches.
    const uint64_t each = shape.level[0].each;
    const uint64_t skipped = work.job.offset / each;
    const uint64_t end = work.job.offset + work.job.length;
    const uint64_t children = (end + each - 1) / each - skipped;
    if (children * each / 2 > work.job.length) return false;
    const auto count = [&](unsigned k) { return k == 0 ? children : shape.level[k].count; };
    params = {};
    params.laid_out = work.laid_out + skipped * static_cast<uint64_t>(shape.level[0].stride);
    params.packed = work.stream_base() + skipped * each;
    params.begin = work.job.offset - skipped * each;
    params.end = end - skipped * each;
    params.columns = columns.count;
    params.column_stride = columns.stride;
    params.rows = count(row);
    params.row_stride = shape.level[row].stride;
    params.row_bytes = shape.level[row].each;
    unsigned outer = most_outer_levels;
    for (uint64_t &n : params.outer_count) n = 1;
    for (unsigned k = column; k-- > 0;) {
        if (k == row) continue;
        --outer;
        params.outer_count[outer] = count(k);
        params.outer_stride[outer] = shape.level[k].stride;
        params.outer_bytes[outer] = shape.level[k].each;
    }
    const uint64_t column_tiles = tiles_along(params.columns), row_tiles = tiles_along(params.rows);
    const Wide tiles =
        Wide{column_tiles} * row_tiles * params.outer_count[0] * params.outer_count[1];
    if (tiles >= most_positions || params.rows < tile_side / 4) return false;
    params.column_tiles = Divisor(column_tiles);
    params.row_tiles = Divisor(row_tiles);
    params.outer_tiles = Divisor(params.outer_count[1]);
    params.tiles = static_cast<uint32_t>(tiles);
    return true;
}

Status launch_transpose(const Work &work, TransposeParams &params) {
    const ShapeLevel &columns = work.plan.shape.level[work.plan.shape.levels - 1];
    const void *kernel = transpose_kernel(work.job.direction, static_cast<unsigned>(columns.each));
    return launch_kernel(work.stream, kernel, params.tiles, max_blocks(work.device, work.job),
                         params);
}

// Pieces --------------------------------------------------------------

// False if the buffer is not aligned for it, or the range has too many pieces.
bool pieces_params(const Work &work, PiecesParams &params) {
    const GpuPlan &plan = work.plan;
    if (plan.piece_list == nullptr || work.job.direction != Direction::unpack ||
        work.laid_out % piece_bytes != 0)
        return false;
    const uint64_t each = plan.shape.level[0].each;
    const uint64_t skipped = work.job.offset / each; // of the outermost level's children
    params = {};
    params.begin = work.job.offset - skipped * each;
    params.end = params.begin + work.job.length;
    params.packed = work.stream_base() + skipped * each;
    params.laid_out = work.laid_out + skipped * static_cast<uint64_t>(plan.shape.level[0].stride);
    const uint64_t first = params.begin / plan.period, last = (params.end - 1) / plan.period;
    const uint64_t count = (last - first + 1) * plan.pieces;
    if (last >= most_positions || count >= most_positions) return false;
    params.first = static_cast<uint32_t>(first);
    params.count = static_cast<uint32_t>(count);
    params.period = static_cast<uint32_t>(plan.period);
    params.pieces = Divisor(plan.pieces);
    params.levels = plan.levels_around_pieces;
    for (uint32_t k = 0; k < params.levels; ++k) {
        const int64_t stride = plan.shape.level[k].stride / piece_bytes;
        if (!fits_32_bits(stride)) return false;
        params.level[k] = {Divisor(plan.shape.level[k].each / plan.period),
                           static_cast<int32_t>(stride)};
    }
    return true;
}

Status launch_pieces(Work &work, PiecesParams &params) {
    const char *image = nullptr;
    UCD_TRY(use_tables(work, *work.plan.piece_list, image));
    params.list = reinterpret_cast<const StorePiece *>(image);
    const uint64_t blocks = (uint64_t{params.count} + threads_per_block - 1) / threads_per_block;
    // All of them from host memory too, where few would be slower: a piece is little work.
    return launch_kernel(work.stream, pieces_kernel(), blocks, work.job.limits.max_blocks, params);
}

// Programs --------------------------------------------------------------

Status launch_program(Work &work) {
    ProgramParams params{};
    UCD_TRY(use_program(work, work.plan.program(), params));
    params.width = work.word;
    params.laid_out = work.laid_out;
    const Vectors vectors(work.packed, work.job.length);
    params.packed = vectors.start;
    params.vectors = vectors.count;
    params.position = work.job.offset - vectors.head;
    params.head = vectors.head;
    params.tail = vectors.tail;
    const uint64_t blocks = (vectors.count + threads_per_block - 1) / threads_per_block;
    return launch_kernel(work.stream, program_kernel(work.job.direction), blocks,
                         max_blocks(work.device, work.job), params);
}

// Whether some range of the job's layout may be too far from its start for a nest, whatever the
// alignment.
bool may_need_program(const GpuPlan &plan, uint64_t count) {
    const Shape &shape = plan.shape;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (!fits_32_bits(shape.level[k].stride)) return true;
    return shape.levels == 0 || plan.size * count + vector_bytes >= most_positions;
}

// Copy engines --------------------------------------------------------------

// A captured copy would do, too, but need not be the faster one when it is replayed.
bool is_faster_by_copy_engine(const Job &job) {
    const bool to_host =
        (job.laid_out_kind == MemoryKind::device) != (job.packed_kind == MemoryKind::device) &&
        touches_host_memory(job);
    Box box;
    return job.limits.engine == Engine::automatic && to_host && is_one_box(job, box) &&
           is_faster_to_pinned(box, reinterpret_cast<uintptr_t>(job.laid_out));
}

Status load_kernels(const GpuPlan &plan, uint64_t count) {
    const Shape &shape = plan.shape;
    LevelKind kinds[max_levels];
    for (unsigned k = 0; k < shape.levels; ++k) kinds[k] = shape.level[k].kind;
    for (const Direction d : {Direction::pack, Direction::unpack}) {
        if (may_need_program(plan, count)) UCD_TRY(load_kernel(program_kernel(d)));
        if (plan.piece_list != nullptr) UCD_TRY(load_kernel(pieces_kernel()));
        for (unsigned width = 1; shape.levels > 0 && width <= plan.word; width *= 2) {
            UCD_TRY(load_kernel(nest_kernel(d, {kinds, shape.levels}, width).handle));
            if (plan.matrix.found) UCD_TRY(load_kernel(transpose_kernel(d, width)));
        }
    }
    return success;
}

} // namespace

Status launch_job(Device &device, gpuStream_t stream, const Job &job, LaunchMode mode,
                  std::vector<TableUse> &uses) {
    const auto &plan = static_cast<const GpuPlan &>(*job.plan);
    if (mode == LaunchMode::capture && !plan.is_prepared(device.index(), job.op))
        return not_prepared();
    Work work = work_of(device, stream, job, mode, uses);
    if (job.op != Op::replace) return launch_reduction(work);
    if (plan.contiguous) return copy_range(work, work.laid_out + job.offset);
    if (job.limits.engine == Engine::dma || is_faster_by_copy_engine(job))
        return copy_boxes(stream, {&job, 1}, mode == LaunchMode::capture);
    TransposeParams params;
    if (plan.matrix.found && transpose_params(work, params)) return launch_transpose(work, params);
    PiecesParams pieces;
    if (pieces_params(work, pieces)) return launch_pieces(work, pieces);
    if (fits_nest(plan.shape, skipped_bytes(plan.shape, job.offset), job, work.word))
        return launch_nest(work);
    return launch_program(work);
}

Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count) {
    if (!plan.contiguous && plan.size > 0) {
        TableStore &store = TableStore::instance();
        UCD_TRY(load_kernels(plan, count));
        if (plan.tables != nullptr) UCD_TRY(store.prepare(*plan.tables, device));
        if (plan.piece_list != nullptr) UCD_TRY(store.prepare(*plan.piece_list, device));
        if (may_need_program(plan, count)) UCD_TRY(store.prepare(plan.program().tables, device));
    }
    plan.set_prepared(device.index());
    return success;
}

} // namespace ucd::UCD_GPU
