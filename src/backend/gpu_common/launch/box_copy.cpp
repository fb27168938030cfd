#include "launch/launch.h"

#include "launch/launch_context.h"
#include "pitched_copies.h"
#include "plan/copy_engines.h"
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

// Whether the move's range is a single copy, which is then in `copy`.
bool is_one_copy(const Move &move, PitchedCopy &copy) {
    const LayoutPlan &plan = plan_of(move.typed()).host;
    // Lists with many segments are hardly ever one box, so the index that would tell is not made.
    constexpr uint64_t many = 64;
    const bool is_list = plan.shape.levels > 0 && plan.shape.level[0].kind != LevelKind::strided;
    if (is_list && move.length / many > longest_segment(plan.layout.top().segments)) return false;
    Boxes boxes = boxes_of(move);
    return is_one_copy(boxes, move.typed().offset, move.length, copy);
}

} // namespace

bool is_engine_faster(const Move &move) {
    const CopyEngines &engines = tuning.copy_engines;
    const Layout &layout = plan_of(move.typed()).host.layout;
    if (layout.has_reference()) return false; // the host may not be able to read the list
    const bool to_host = move.to_kind == MemoryKind::pinned;
    const uint64_t shortest = shortest_segment(layout.top().segments);
    const CopyEngine &engine = to_host ? engines.to_host : engines.from_host;
    if (static_cast<double>(shortest) >= engine.list_block &&
        move.length / shortest < max_copies - 1)
        return true;
    PitchedCopy copy;
    if (!is_one_copy(move, copy)) return false;
    const uint64_t bits =
        copy.row | static_cast<uint64_t>(copy.row_stride) |
        static_cast<uint64_t>(copy.plane_stride) |
        (reinterpret_cast<uintptr_t>(move.typed().address) + static_cast<uint64_t>(copy.start));
    return is_engine_faster(engines, to_host, copy.row, copy.rows * copy.planes, bits);
}

Status copy_boxes(LaunchTarget &to, std::span<const Move> moves) {
    PlainStep plain;
    for (const Move &move : moves) {
        const bool pack = move.direction() == Direction::pack;
        char *packed = move.packed().first();
        Status status;
        const auto start = [&](const PitchedCopy &copy) {
            auto *const typed =
                reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(move.typed().address) +
                                         static_cast<uintptr_t>(copy.start));
            if (copy.rows * copy.planes > 1)
                status = to.copy(PitchedStep{copy, typed, packed, pack});
            else if (pack)
                plain.push_back({packed, typed, copy.row});
            else
                plain.push_back({typed, packed, copy.row});
            packed += copy.bytes();
            return status.ok();
        };
        Boxes boxes = boxes_of(move);
        (void)for_each_copy(boxes, move.typed().offset, move.length, start);
        UCD_TRY(status);
    }
    return plain.empty() ? success : to.copy(plain);
}

} // namespace ucd::UCD_GPU
