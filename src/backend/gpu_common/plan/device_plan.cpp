#include "plan/device_plan.h"

#include "params/table_shape.h"
#include "plan/magnitude.h"
#include "plan/make_divisor.h"
#include "plan/move_range.h"

#include <bit>
#include <cstddef>

namespace ucd::gpu {
namespace {

static_assert(sizeof(ucd_device_plan_t) == 256);

constexpr unsigned max_plan_levels = UCD_DEVICE_PLAN__MAX_LEVELS;
constexpr uint8_t no_row = 255;

ucd_device_level_t level_of_plan(uint64_t each, int64_t stride) {
    const Divisor divisor = make_divisor(each);
    return {each, stride, divisor.magic, divisor.shift};
}

// Levels that the plan does not have get children of a byte, next to each other. So code that is
// compiled for more levels finds the same places.
void fill_levels(ucd_device_plan_t &plan) {
    for (unsigned k = plan.levels; k < max_plan_levels; ++k) plan.level[k] = level_of_plan(1, 1);
}

// The strided levels from `top` to a block. Returns false if there are others, or too many.
bool add_strided_levels(const Layout &layout, const Node &top, ucd_device_plan_t &plan) {
    const Node *n = &top;
    for (; n->kind == NodeKind::strided; n = &layout.nodes[n->child]) {
        if (plan.levels == max_plan_levels) return false;
        plan.level[plan.levels++] = level_of_plan(layout.nodes[n->child].bytes, n->stride);
    }
    return n->kind == NodeKind::block;
}

// Whether device code can read the displacements of all levels.
bool reads_all_indices(const Shape &shape) {
    for (unsigned k = 0; k < shape.levels; ++k)
        if (is_by_reference(shape.level[k]) && !reads_indices(shape.level[k], 0)) return false;
    return true;
}

void add_levels(const Shape &shape, ucd_device_plan_t &plan) {
    plan.levels = static_cast<uint8_t>(shape.levels);
    for (unsigned k = 0; k < shape.levels; ++k) {
        const ShapeLevel &level = shape.level[k];
        plan.level[k] = level_of_plan(level.each, level.stride);
        plan.kind[k] = static_cast<uint8_t>(level.kind);
        if (level.kind == LevelKind::strided) continue;
        const NestList list = nest_list(level, 1, 0);
        plan.at.list[k] = {list.displacements, list.first, list.starts, list.displacement_unit,
                           list.granule};
    }
}

// Which addresses are the caller's, and are no offsets, place_lists() must know as well.
bool is_caller_list(const ucd_device_list_t &list) {
    return list.starts == UINT64_MAX;
}

void add_stores(const LayoutPlan &from, DevicePlan &made) {
    constexpr std::size_t alignment = alignof(uint64_t);
    made.lists.resize((made.lists.size() + alignment - 1) / alignment * alignment);
    made.plan.stores = made.lists.size();
    made.plan.store_levels = static_cast<uint8_t>(from.levels_around_stores);
    const Divisor divisor = make_divisor(from.stores);
    made.plan.store_count = divisor.value;
    made.plan.store_magic = divisor.magic;
    made.plan.store_shift = divisor.shift;
    made.lists.insert(made.lists.end(), from.aligned_stores.begin(), from.aligned_stores.end());
}

// The level of the rows, if tiles pay: if neighbours in the stream are further apart than a memory
// sector, and neighbours in memory are not. Else no_row.
uint8_t row_of_transpose(const Shape &shape, bool repeated, const Tuning &tuning) {
    if (shape.levels < 2) return no_row;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (shape.level[k].kind != LevelKind::strided) return no_row;
    const ShapeLevel &columns = shape.level[shape.levels - 1];
    if (!is_word(columns.each) || columns.count < tuning.min_tiled ||
        magnitude(columns.stride) <= tuning.sector_bytes)
        return no_row;
    unsigned row = 0;
    for (unsigned k = 1; k + 1 < shape.levels; ++k)
        if (magnitude(shape.level[k].stride) < magnitude(shape.level[row].stride)) row = k;
    const ShapeLevel &rows = shape.level[row];
    // The number of repetitions is not a part of the shape.
    const bool enough = rows.count >= tuning.min_tiled || (row == 0 && repeated);
    if (!enough || magnitude(rows.stride) > tuning.sector_bytes / 2) return no_row;
    return static_cast<uint8_t>(row);
}

} // namespace

DevicePlan make_device_plan(const Layout &layout, int64_t extent, uint64_t count,
                            uint64_t max_bytes, const Tuning &tuning) {
    DevicePlan made{};
    ucd_device_plan_t &plan = made.plan;
    plan.struct_size = sizeof plan;
    plan.version = UCD_DEVICE_PLAN__VERSION;
    plan.row = no_row;
    if (layout.empty() || count == 0) return made;
    plan.bytes = layout.top().bytes * count;
    plan.origin = layout.start;
    const Node top = repeat(layout.top(), layout.root, count, extent);
    const LayoutPlan host(layout, extent, count > 1, max_bytes, tuning);
    plan.word = static_cast<uint8_t>(std::countr_zero(host.word));
    const Shape &shape = host.shape;
    plan.row = row_of_transpose(shape, count > 1, tuning);
    if (add_strided_levels(layout, top, plan)) {
        fill_levels(plan);
        return made;
    }
    plan.levels = 0;
    if (shape.levels > 0 && reads_all_indices(shape)) {
        add_levels(shape, plan);
        for (unsigned k = 0; k < shape.levels; ++k)
            if (is_by_reference(shape.level[k])) plan.at.list[k].starts = UINT64_MAX;
        fill_levels(plan);
        made.lists = host.lists;
        if (!host.aligned_stores.empty()) add_stores(host, made);
        return made;
    }
    InterpreterLists lists = host.interpreter_lists();
    plan.levels = levels_of_interpreter;
    plan.at.walk.nodes = lists.nodes;
    plan.at.walk.root = lists.root;
    made.lists = std::move(lists.bytes);
    return made;
}

void place_lists(ucd_device_plan_t &plan, uint64_t address) {
    plan.memory = address;
    if (plan.levels == levels_of_interpreter) {
        plan.at.walk.lists = address;
        return;
    }
    if (plan.store_count > 0) plan.stores += address;
    for (unsigned k = 0; k < plan.levels && k < max_plan_levels - 1; ++k) {
        ucd_device_list_t &list = plan.at.list[k];
        if (plan.kind[k] == static_cast<uint8_t>(LevelKind::strided) || is_caller_list(list))
            continue;
        list.displacements += address;
        list.starts += address;
        if (plan.kind[k] == static_cast<uint8_t>(LevelKind::indexed)) list.first += address;
    }
}

} // namespace ucd::gpu
