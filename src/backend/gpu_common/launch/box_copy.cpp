#include "launch/launch.h"

#include "launch/copy_places.h"
#include "launch/launch_context.h"
#include "pitched_copies.h"
#include "plan/copy_engines.h"
#include "plan/copy_nest.h"
#include "tuning.h"

#include <algorithm>

namespace ucd::UCD_GPU {
namespace {

uint64_t longest_segment(const Segments &s) {
    return std::max({s.first_bytes, s.inner_max, s.last_bytes});
}
uint64_t shortest_segment(const Segments &s) {
    return std::min({s.first_bytes, s.inner_min, s.last_bytes});
}

Boxes boxes_of(const Move &move) {
    const GpuPlan &plan = plan_of(move.typed());
    return {plan.host.layout, plan.boxes(), move.typed().count, plan.host.extent};
}

// The copy of rows of a pack or an unpack, whose packed bytes begin at `packed`.
PitchedStep step_of(const Move &move, const PitchedCopy &copy, char *packed) {
    const auto typed =
        reinterpret_cast<uintptr_t>(move.typed().address) + static_cast<uintptr_t>(copy.start);
    const auto row = static_cast<int64_t>(copy.row);
    const PitchedSide strided{reinterpret_cast<char *>(typed),
                              copy.rows > 1 ? copy.row_stride : row, copy.plane_stride};
    const PitchedSide stream{packed, row, row * static_cast<int64_t>(copy.rows)};
    const bool pack = move.direction() == Direction::pack;
    return {pack ? strided : stream, pack ? stream : strided, copy.row, copy.rows, copy.planes};
}

// Whether the move's range is a single copy, which is then in `step`.
bool is_one_copy(const Move &move, PitchedStep &step) {
    const LayoutPlan &plan = plan_of(move.typed()).host;
    // Lists with many segments are hardly ever one box, so the index that would tell is not made.
    constexpr uint64_t many = 64;
    const bool is_list = plan.shape.levels > 0 && plan.shape.level[0].kind != LevelKind::strided;
    if (is_list && move.length / many > longest_segment(plan.layout.top().segments)) return false;
    Boxes boxes = boxes_of(move);
    PitchedCopy copy;
    if (!is_one_copy(boxes, move.typed().offset, move.length, copy)) return false;
    step = step_of(move, copy, move.packed().first());
    return true;
}

// Same, for a copy between layouts that is this nest.
bool is_one_copy(const PlacedNest &placed, PitchedStep &step) {
    CopyNest nest = placed.nest;
    sort_levels(nest, &CopyNest::Level::to);
    const std::size_t levels = nest.levels.size();
    if (levels == 0 || levels > 2) return false;
    const CopyNest::Level &rows = nest.levels.back(), &planes = nest.levels[0];
    if (!are_rows(nest.block, rows.from) || !are_rows(nest.block, rows.to) || rows.count > max_rows)
        return false;
    step = {{reinterpret_cast<char *>(placed.from), rows.from},
            {reinterpret_cast<char *>(placed.to), rows.to},
            nest.block,
            rows.count};
    if (levels == 1) return true;
    if (planes.count > max_planes || !are_planes(rows.count, rows.from, planes.from) ||
        !are_planes(rows.count, rows.to, planes.to))
        return false;
    step.from.plane_stride = planes.from;
    step.to.plane_stride = planes.to;
    step.planes = planes.count;
    return true;
}

// Whether a move is between device and pinned memory, and may be done by either.
bool may_use_engine(const Move &move) {
    return move.limits.engine == Engine::automatic &&
           (move.from_kind == MemoryKind::device) != (move.to_kind == MemoryKind::device) &&
           touches_host_memory(move);
}

RowsOfHost rows_of_host(const Move &move, const PitchedStep &step) {
    const bool to_host = move.to_kind == MemoryKind::pinned;
    RowsOfHost rows{.to_host = to_host,
                    .row = step.row,
                    .rows = step.rows * step.planes,
                    .apart_on_host = 0,
                    .bits = step.row};
    for (const PitchedSide *side : {&step.from, &step.to}) {
        if (side->row_stride == static_cast<int64_t>(step.row)) continue;
        rows.bits |= reinterpret_cast<uintptr_t>(side->first) |
                     static_cast<uint64_t>(side->row_stride | side->plane_stride);
        const bool is_host = (side == &step.to) == to_host;
        if (is_host) rows.apart_on_host = static_cast<uint64_t>(side->row_stride);
    }
    return rows;
}

bool is_one_row(const PitchedStep &step) {
    return step.rows * step.planes == 1;
}

PlainCopy plain_copy(const PitchedStep &step) {
    return {step.to.first, step.from.first, step.row};
}

Status copy_rows(LaunchTarget &to, const PitchedStep &step) {
    return is_one_row(step) ? to.copy(plain_copy(step)) : to.copy(step);
}

// Whether the engine is faster for a list of blocks, whatever their number.
bool are_long_blocks(const Move &move) {
    const CopyEngines &engines = tuning.copy_engines;
    const bool to_host = move.to_kind == MemoryKind::pinned;
    const CopyEngine &engine = to_host ? engines.to_host : engines.from_host;
    const Segments &segments = plan_of(move.typed()).host.layout.top().segments;
    const uint64_t shortest = shortest_segment(segments);
    return static_cast<double>(shortest) >= engine.list_block &&
           move.length / shortest < max_copies - 1;
}

} // namespace

Status copy_boxes(LaunchTarget &to, std::span<const Move> moves) {
    PlainStep plain;
    for (const Move &move : moves) {
        char *packed = move.packed().first();
        Status status;
        const auto start = [&](const PitchedCopy &copy) {
            const PitchedStep step = step_of(move, copy, packed);
            if (is_one_row(step))
                plain.push_back(plain_copy(step));
            else
                status = to.copy(step);
            packed += copy.bytes();
            return status.ok();
        };
        Boxes boxes = boxes_of(move);
        (void)for_each_copy(boxes, move.typed().offset, move.length, start);
        UCD_TRY(status);
    }
    return plain.empty() ? success : to.copy(plain);
}

Status launch_if_faster(LaunchTarget &to, const Move &move, bool &launched) {
    launched = false;
    // The host may not be able to read a list by reference.
    if (!may_use_engine(move) || plan_of(move.typed()).host.layout.has_reference()) return success;
    launched = are_long_blocks(move);
    if (launched) return copy_boxes(to, {&move, 1});
    PitchedStep step;
    launched =
        is_one_copy(move, step) && is_engine_faster(tuning.copy_engines, rows_of_host(move, step));
    return launched ? copy_rows(to, step) : success;
}

Status launch_if_faster(LaunchTarget &to, const Move &move, const PlacedNest &placed,
                        bool &launched) {
    PitchedStep step;
    launched = may_use_engine(move) && is_one_copy(placed, step) &&
               is_engine_faster(tuning.copy_engines, rows_of_host(move, step));
    return launched ? copy_rows(to, step) : success;
}

} // namespace ucd::UCD_GPU
