// The lists in the plans that all GPU vendors share: how large they are, and for which layouts a
// nest has them.
#include "plan/layout_plan.h"
#include "plan/lists.h"

#include "support/catch.hpp"
#include "unit/layouts_by_hand.hpp"
#include "unit/plan_tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gpu_lists_test {

using namespace ucd;
using namespace ucd::gpu;
using namespace ucdtest;

namespace {

constexpr uint64_t block = 16;

// Runs of blocks, `block` apart, at irregular places.
OwnedLayout runs_of(uint64_t runs, uint64_t each) {
    OwnedLayout layout = block_of(block);
    Node n = around_last(layout, NodeKind::indexed, runs * each, 0);
    n.count = runs;
    n.stride = 2 * block;
    TableLists table;
    for (uint64_t run = 0; run < runs; ++run) {
        table.displs.push_back(static_cast<int64_t>(run * 3 * each * block + run % 3 * block));
        table.first.push_back(run * each);
    }
    table.first.push_back(runs * each);
    n.high = table.displs.back() + static_cast<int64_t>(2 * each * block);
    layout.add(std::move(table));
    put_on_top(layout, n);
    return layout;
}

LayoutPlan plan_of(const OwnedLayout &layout) {
    return {layout, layout->top().high, false, SIZE_MAX, tuning};
}

} // namespace

TEST_CASE("starts of searches take no more memory than the lists, beyond a size") {
    for (uint64_t positions = 1; positions < uint64_t{1} << 32; positions = 3 * positions + 1)
        for (uint64_t entries = 1; entries <= positions; entries *= 4) {
            INFO(positions << " positions, " << entries << " entries");
            const uint32_t granule = granule_for(positions, entries);
            CHECK(positions >> granule <= std::max(max_starts, entries));
        }
    // Long entries: most searches take no step.
    CHECK(granule_for(100000, 100) == 6);
    CHECK(granule_for(1000, 500) == 2);
}

TEST_CASE("displacements have 32 bits if a unit is found by which all fit") {
    const int64_t limit = int64_t{1} << 31;
    const auto unit_for = [](const std::vector<int64_t> &displacements) {
        return gpu::unit_for(displacements);
    };
    CHECK(unit_for({0, 8, 24}) == 8);
    CHECK(unit_for({0, 4 * (limit - 1)}) == 4);
    CHECK(unit_for({0, 4 * (limit + 1)}) == 0);
    CHECK(unit_for({0, 4 * (1 - limit)}) == 4);
    CHECK(unit_for({0, 4 * (-1 - limit)}) == 0);
    CHECK(unit_for({0, limit << 16}) == 0);
    CHECK(unit_for({0, (limit - 1) << 16}) == 1 << 16);
    CHECK(unit_for({-limit << 16, 0}) == 1 << 16);
}

TEST_CASE("lists are written as kernels read them, in units or in bytes") {
    const auto check = [](const std::vector<int64_t> &displs) {
        const uint32_t unit = gpu::unit_for(displs);
        std::vector<char> written(displs.size() * (unit > 0 ? sizeof(int32_t) : sizeof(int64_t)));
        gpu::write_displacements(displs, unit, written.data());
        for (std::size_t i = 0; i < displs.size(); ++i) {
            INFO("entry " << i << ": " << displs[i]);
            int32_t narrow = 0;
            int64_t wide = 0;
            if (unit > 0)
                std::memcpy(&narrow, written.data() + 4 * i, sizeof narrow);
            else
                std::memcpy(&wide, written.data() + 8 * i, sizeof wide);
            CHECK((unit > 0 ? int64_t{narrow} * unit : wide) == displs[i]);
        }
    };
    const int64_t far = int64_t{1} << 31;
    for (const int64_t by : {1, 4, 8, 24, 512, 1 << 20, -8, -24, 3}) {
        INFO("by " << by);
        check({0, 2 * by, 0, 4 * by, by});
        check({0, -64 * by, 128 * by, -192 * by});
        check({0, (far + 3) * by, (4 - far) * by, 15 * by});
        check({0, (far - 1) * by, -far * by});
        check({0, (far + 1) * by});
        check({0, 64 * far * by, -64 * far * by});
        check({0});
    }
}

TEST_CASE("a layout that is moved once is planned as one whose list is kept") {
    const std::vector<int64_t> displs = {0, -96 * 24, -64 * 24, 904 * 24, -160 * 24};
    const auto layout_of = [&](bool once) {
        OwnedLayout layout = block_of(block);
        Node n = around_last(layout, NodeKind::indexed_block, displs.size(), 0);
        n.low = -160 * 24;
        n.high = 904 * 24 + static_cast<int64_t>(block);
        uint64_t bits = 0;
        for (const int64_t displ : displs) bits |= static_cast<uint64_t>(displ);
        if (once) layout.set_moved_once(bits);
        layout.add(Table{.displs = displs});
        put_on_top(layout, n);
        return layout;
    };
    const OwnedLayout often = layout_of(false), once = layout_of(true);
    const LayoutPlan kept = plan_of(often), uploaded = plan_of(once);
    CHECK(uploaded.word == kept.word);
    CHECK(uploaded.shape.levels == 1);
    CHECK(uploaded.shape.level[0].displacement_unit == kept.shape.level[0].displacement_unit);
    CHECK(uploaded.lists.empty());
    CHECK(uploaded.interpreter_lists().bytes == kept.interpreter_lists().bytes);
}

TEST_CASE("runs of a few blocks are a list of blocks; longer ones have starts to be found by") {
    const LayoutPlan few = plan_of(runs_of(1000, 3));
    REQUIRE(few.shape.levels == 1);
    CHECK(few.shape.level[0].kind == LevelKind::indexed_block);
    CHECK(few.shape.level[0].count == 3000);
    CHECK(few.lists.size() == 3000 * sizeof(int32_t));
    const LayoutPlan more = plan_of(runs_of(1000, 4));
    REQUIRE(more.shape.levels == 1);
    CHECK(more.shape.level[0].kind == LevelKind::indexed);
    // Displacements, prefix sums, and a start for every 64 blocks.
    const LayoutPlan many = plan_of(runs_of(100, 1000));
    REQUIRE(many.shape.levels == 1);
    CHECK(many.shape.level[0].kind == LevelKind::indexed);
    CHECK(many.lists.size() < (100 + 101 + 100000 / 64 + 20) * sizeof(int32_t));
}

TEST_CASE("aligned stores pay if they have as many words as they are to have, or more") {
    const auto stores = [](const OwnedLayout &layout, uint32_t min_words) {
        Tuning other = tuning;
        other.min_store_words = min_words;
        return LayoutPlan(layout, layout->top().high, false, SIZE_MAX, other).stores;
    };
    // Of 4, 1, 2 and 1 bytes.
    OwnedLayout layout = listed(4, {0, 5});
    repeat_last(layout, 100, 16);
    CHECK(stores(layout, 2) == 4);
    CHECK(stores(layout, 3) == 0);
    // Of one word and of two.
    CHECK(stores(strided(6, 100, 8), 2) == 0);
    CHECK(stores(strided(14, 100, 16), 2) == 3);
}

TEST_CASE("a caller's list below many levels is a nest, whatever small layout it lists") {
    static const int32_t indices[3] = {2, 0, 1};
    for (const NodeKind below : {NodeKind::block, NodeKind::strided, NodeKind::indexed_block}) {
        OwnedLayout layout = below == NodeKind::block ? block_of(block)
                             : below == NodeKind::strided
                                 ? strided(block, 3, 3 * block)
                                 : listed(block, {0, 2 * block, 5 * block});
        Node listed_by_reference = around_last(layout, NodeKind::by_reference, 3, 1000);
        listed_by_reference.has_reference = true;
        put_on_top(layout, listed_by_reference);
        layout.add(IndexList{indices, Element::int32, false, 256});
        for (const int64_t stride : {1000, 10000, 100000}) repeat_last(layout, 2, stride);
        const LayoutPlan plan = plan_of(layout);
        REQUIRE(plan.shape.levels == (below == NodeKind::block ? 2 : 3));
        CHECK(plan.shape.level[0].count == 8);
        CHECK(is_by_reference(plan.shape.level[1]));
    }
}

} // namespace gpu_lists_test
