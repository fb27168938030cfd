#include "plan/layout_plan.h"

#include "layout_walk.h"
#include "plan/tiles.h"

namespace ucd::gpu {
namespace {

uint32_t permuted_word_of(const Layout &layout, const Node &top, bool repeated,
                          const Tuning &tuning) {
    PackedNest packed;
    if (!cover_range({layout, top, 0}, top.bytes, packed) || !is_word(packed.nest.block)) return 0;
    // The number of repetitions is known only at the call.
    constexpr uint64_t many = 1024;
    if (repeated) packed.nest.levels[0].count = many;
    const auto word = static_cast<uint32_t>(packed.nest.block);
    TilesParams params;
    return make_copy_tiles(packed.nest.levels, {0, 0}, word, tuning, params) ? word : 0;
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
    permuted_word = permuted_word_of(layout, top_, repeated, tuning);
    ListBuilder builder;
    shape = shape_of(layout, top_, repeated, builder);
    if (builder.size() > max_bytes) shape = {};
    if (shape.levels == 0) return;
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
