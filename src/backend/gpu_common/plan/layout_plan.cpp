#include "plan/layout_plan.h"

#include "layout_walk.h"
#include "plan/magnitude.h"

namespace ucd::gpu {
namespace {

bool is_word(uint64_t bytes) {
    return bytes <= vector_bytes && (bytes & (bytes - 1)) == 0;
}

// Tiles pay if neighbours in the stream are further apart than a memory sector, and neighbours in
// memory are not.
Matrix matrix_in(const Shape &shape, bool repeated, const Tuning &tuning) {
    if (shape.levels < 2) return {};
    for (unsigned k = 0; k < shape.levels; ++k)
        if (shape.level[k].kind != LevelKind::strided) return {};
    const ShapeLevel &columns = shape.level[shape.levels - 1];
    if (!is_word(columns.each) || columns.count < tuning.min_tiled ||
        magnitude(columns.stride) <= tuning.sector_bytes)
        return {};
    unsigned row = 0;
    for (unsigned k = 1; k + 1 < shape.levels; ++k)
        if (magnitude(shape.level[k].stride) < magnitude(shape.level[row].stride)) row = k;
    const ShapeLevel &rows = shape.level[row];
    // The number of repetitions is known only at the call.
    const bool enough = rows.count >= tuning.min_tiled || (row == 0 && repeated);
    if (!enough || magnitude(rows.stride) > tuning.sector_bytes / 2) return {};
    return {true, row};
}

} // namespace

LayoutPlan::LayoutPlan(const Layout &l, int64_t e, bool r, uint64_t max_bytes, const Tuning &tuning)
    : layout(l), extent(e), repeated(r) {
    if (layout.empty()) return;
    size = layout.top().bytes;
    // 2 stands for any count above one, because only the outermost count differs.
    top_ = repeat(layout.top(), layout.root, repeated ? 2 : 1, extent);
    word = common_word(layout, top_);
    contiguous = top_.kind == NodeKind::block;
    if (contiguous) return;
    ListBuilder builder;
    shape = shape_of(layout, top_, repeated, builder);
    if (builder.size() > max_bytes) shape = {};
    if (shape.levels == 0) return;
    matrix = matrix_in(shape, repeated, tuning);
    lists = builder.take();
    list_aligned_stores(max_bytes - lists.size(), tuning);
}

void LayoutPlan::list_aligned_stores(uint64_t max_bytes, const Tuning &tuning) {
    if (word >= max_store_bytes / tuning.min_store_words) return;
    const AlignedStoreList list = aligned_stores_of(layout, top_, shape);
    if (list.stores.size() * word * tuning.min_store_words > list.period) return;
    if (list.stores.size() * sizeof list.stores[0] > max_bytes) return;
    levels_around_stores = list.levels;
    period = list.period;
    stores = static_cast<uint32_t>(list.stores.size());
    ListBuilder builder;
    builder.add(list.stores);
    aligned_stores = builder.take();
}

InterpreterLists lists_of_elements(const Layout &runs, int64_t extent) {
    // 2 stands for any count, one included, because the interpreter does not use the count.
    return make_interpreter_lists(runs, repeat(runs.top(), runs.root, 2, extent));
}

} // namespace ucd::gpu
