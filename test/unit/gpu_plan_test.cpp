// The plans that all GPU vendors share, by themselves: no vendor's code is linked. What they mean
// to kernels is tested where kernels run.
#include "plan/copy_nest.h"
#include "plan/layout_plan.h"
#include "plan/lists.h"
#include "plan/make_divisor.h"
#include "plan/tiles.h"

#include "layout/owned_layout.h"
#include "support/catch.hpp"
#include "support/random/rng.hpp"
#include "unit/plan_tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace gpu_plan_test {

using namespace ucd;
using namespace ucd::gpu;
using ucdtest::tuning;

namespace {

// As a device would do it.
uint32_t divided(uint32_t n, const Divisor &d) {
    return d.value == 1 ? n : static_cast<uint32_t>((uint64_t{n} * d.magic) >> 32) >> d.shift;
}
uint64_t divided(uint64_t n, const WideDivisor &d) {
    if (d.value == 1) return n;
    const auto high = static_cast<uint64_t>((Wide{n} * d.magic) >> 64);
    return (((n - high) >> 1) + high) >> d.shift;
}

// Strided nodes around a block, the outermost first.
struct Level {
    uint64_t count;
    int64_t stride;
};
OwnedLayout nest(uint64_t block, const std::vector<Level> &levels) {
    OwnedLayout layout;
    Node n;
    n.bytes = block;
    n.high = static_cast<int64_t>(block);
    n.segments.count = 1;
    layout.add(n);
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
        const auto last = static_cast<NodeId>(layout->nodes.size() - 1);
        layout.set_top(layout.add(repeat(layout->nodes.back(), last, level->count, level->stride)),
                       0, 0);
    }
    return layout;
}

LayoutPlan plan_of(const OwnedLayout &layout, const Tuning &t = tuning) {
    return {layout, layout->top().high, false, SIZE_MAX, t};
}

} // namespace

TEST_CASE("divisors give the quotients of the hardware's division") {
    const std::vector<uint64_t> divisors{1,  2,   3,    5,     7,          8,          9,
                                         16, 100, 1000, 65537, 0x7fffffff, 0x80000000, 1000000007};
    for (const uint64_t d : divisors)
        for (const uint64_t base : {uint64_t{0}, d, 2 * d, 100 * d, uint64_t{0x7fffffff}})
            for (const int64_t step : {-1, 0, 1}) {
                const uint64_t n = base + static_cast<uint64_t>(step);
                if (n < uint64_t{1} << 31)
                    CHECK(divided(static_cast<uint32_t>(n), make_divisor(d)) == n / d);
                CHECK(divided(n, make_wide_divisor(d)) == n / d);
            }
    for (const uint64_t d : divisors) {
        const Divisor made = make_divisor(d);
        CHECK(made.shift < 32);
        CHECK(make_wide_divisor(d).shift < 64);
        if (made.value <= 1) continue;
        // The smallest number that will do.
        CHECK(Wide{made.magic} * d >= Wide{1} << (32 + made.shift));
        CHECK(Wide{made.magic - 1} * d < Wide{1} << (32 + made.shift));
    }
    for (const uint64_t d : {UINT64_MAX, uint64_t{1} << 63, (uint64_t{1} << 63) + 1})
        for (const uint64_t n : {uint64_t{0}, d - 1, d, UINT64_MAX})
            CHECK(divided(n, make_wide_divisor(d)) == n / d);
}

TEST_CASE("two strides are a nest without lists, in words that divide all of it") {
    const OwnedLayout layout = nest(12, {{10, 1000}, {20, 40}});
    const LayoutPlan plan = plan_of(layout);
    CHECK(plan.size == 12 * 10 * 20);
    CHECK(plan.word == 4);
    REQUIRE(plan.shape.levels == 2);
    CHECK(plan.shape.level[0].each == 12 * 20);
    CHECK(plan.shape.level[1].stride == 40);
    CHECK(plan.lists.empty());
    CHECK(plan.permuted_word == 0);
}

TEST_CASE("sectors and the least size of tiles decide whether a matrix is moved in tiles") {
    // Neighbours in the stream are 128 bytes apart, rows 8.
    const OwnedLayout layout = nest(8, {{16, 8}, {16, 128}});
    CHECK(plan_of(layout).permuted_word == 8);
    Tuning other = tuning;
    other.sector_bytes = 128;
    CHECK(plan_of(layout, other).permuted_word == 0);
    other = tuning;
    other.min_tiled = 17;
    CHECK(plan_of(layout, other).permuted_word == 0);
}

TEST_CASE("tiles pay if neighbours on either side are far apart on the other") {
    const auto pay = [](const std::vector<Level> &levels) {
        return plan_of(nest(8, levels)).permuted_word == 8;
    };
    CHECK(pay({{16, 4096}, {16, 8}, {16, 128}}));
    CHECK(pay({{16, 4096}, {16, -8}, {16, 128}}));
    CHECK(pay({{16, -8}, {16, 4096}, {16, -128}}));
    CHECK_FALSE(pay({{16, 4096}, {16, 24}, {16, 128}}));
    CHECK_FALSE(pay({{16, 8}, {16, 32}}));
    CHECK(pay({{16, 8}, {16, 40}}));
    CHECK_FALSE(pay({{16, 8}, {16, -32}}));
    CHECK(pay({{16, 8}, {16, -40}}));
    CHECK(pay({{16, -16}, {16, 128}}));
    CHECK_FALSE(pay({{16, -24}, {16, 128}}));
    // Neighbours in memory are four elements apart in the stream, or five.
    CHECK_FALSE(pay({{4, 4096}, {16, 8}, {4, 512}}));
    CHECK(pay({{4, 4096}, {16, 8}, {5, 512}}));
    // The fastest level of both sides is the same.
    CHECK_FALSE(pay({{16, 128}, {16, 8}}));
    // Too few, with nothing to add.
    CHECK(pay({{8, 8}, {16, 128}}));
    CHECK_FALSE(pay({{7, 8}, {16, 128}}));
    CHECK(pay({{16, 8}, {8, 128}}));
    CHECK_FALSE(pay({{16, 8}, {7, 128}}));
}

TEST_CASE("the levels of a range: whole children of the outermost level that it touches") {
    const OwnedLayout layout = nest(4, {{10, 4}, {20, 400}, {30, 40}});
    const uint64_t inner = 30 * 4, middle = 20 * inner;
    const auto cover = [&](uint64_t offset, uint64_t length, PackedNest &packed) {
        return cover_range({layout, layout->top(), offset}, length, packed);
    };
    PackedNest all;
    REQUIRE(cover(0, 10 * middle, all));
    CHECK(all.nest.bytes() == 10 * middle);
    CHECK(all.start == 0);
    PackedNest part;
    REQUIRE(cover(2 * middle + 8, 3 * middle, part));
    CHECK(part.nest.levels[0].count == 4);
    CHECK(part.start == 2 * 4);
    CHECK(part.position == 2 * middle);
    PackedNest within;
    REQUIRE(cover(2 * middle + 3 * inner, 5 * inner, within));
    CHECK(within.nest.levels.size() == 2);
    CHECK(within.nest.bytes() == 5 * inner);
    CHECK(within.start == 2 * 4 + 3 * 400);
    within.reverse();
    CHECK(within.nest.levels[0].to == 400);
    CHECK(within.nest.levels[0].from == static_cast<int64_t>(inner));
    // Little of two children; one child of one level.
    PackedNest little, line;
    CHECK_FALSE(cover(middle - inner, 2 * inner, little));
    CHECK_FALSE(cover(0, inner, line));
}

TEST_CASE("odd blocks are unpacked in aligned stores, if these are wide enough") {
    const OwnedLayout layout = nest(17, {{100, 24}});
    const LayoutPlan plan = plan_of(layout);
    CHECK(plan.word == 1);
    CHECK(plan.period == 17);
    CHECK(plan.stores == 3); // of 8, 8 and 1 bytes
    CHECK(plan.aligned_stores.size() == 3 * sizeof(AlignedStore));
    // As long as there is memory for them.
    const auto with_memory = [&](uint64_t bytes) {
        return LayoutPlan(layout, layout->top().high, false, bytes, tuning).stores;
    };
    CHECK(with_memory(3 * sizeof(AlignedStore)) == 3);
    CHECK(with_memory(3 * sizeof(AlignedStore) - 1) == 0);
    Tuning other = tuning;
    other.min_store_words = 6; // 17 bytes in 3 stores are less
    CHECK(plan_of(layout, other).aligned_stores.empty());
}

TEST_CASE("a plan without memory for lists leaves its layout to the interpreter") {
    // Four levels: one is listed.
    const OwnedLayout layout = nest(4, {{3, 10000}, {3, 1000}, {3, 100}, {3, 10}});
    const LayoutPlan with_lists = plan_of(layout);
    CHECK(with_lists.shape.levels == 3);
    CHECK(!with_lists.lists.empty());
    const LayoutPlan without(layout, layout->top().high, false, 0, tuning);
    CHECK(without.shape.levels == 0);
    CHECK(without.lists.empty());
    const InterpreterLists lists = without.interpreter_lists();
    CHECK(lists.root == layout->nodes.size());
    CHECK(lists.nodes + (lists.root + 1) * sizeof(InterpreterNode) == lists.bytes.size());
}

TEST_CASE("starts lead to the entry that holds a position") {
    const std::vector<uint64_t> first{0, 1, 50, 51, 200, 1000};
    for (const uint32_t granule : {0U, 3U, 6U}) {
        const std::vector<uint32_t> starts = starts_of(first, granule);
        CHECK(starts.size() == ((first.back() + (1U << granule) - 1) >> granule) + 2);
        for (uint64_t position = 0; position < first.back(); ++position) {
            const uint32_t low = starts[position >> granule],
                           high = starts[(position >> granule) + 1];
            CHECK(first[low] <= position);
            CHECK(position < first[high + 1]);
        }
    }
}

namespace {

// The one nest of a copy of all of two layouts.
CopyNest join_whole(const OwnedLayout &from, const OwnedLayout &to) {
    CopyNests nests;
    REQUIRE(join_strides({from, from->top(), 0}, {to, to->top(), 0}, from->top().bytes, nests));
    REQUIRE(nests.size() == 1);
    return nests.begin()->nest;
}

} // namespace

TEST_CASE("two strided layouts are one nest, and the hardware decides what its order costs") {
    const OwnedLayout rows = nest(8, {{64, 512}, {64, 8}}), columns = nest(8, {{64, 8}, {64, 512}});
    CopyNest joined = join_whole(rows, rows);
    CHECK(joined.block == 8 * 64 * 64);
    CHECK(joined.levels.size() == 0);
    joined = join_whole(rows, columns);
    CHECK(joined.block == 8);
    REQUIRE(joined.levels.size() == 2);
    sort_levels(joined, &CopyNest::Level::from);
    // 32 words of 8 bytes: 7 steps to another sector where they are close, 31 where not.
    CHECK(jumps_of(joined, 8, tuning) == 7 + 31);
    Tuning other = tuning;
    other.warp_lanes = 64;
    other.sector_bytes = 64;
    CHECK(jumps_of(joined, 8, other) == 7 + 63);
}

TEST_CASE("levels that carry on where others end, on both sides, are one") {
    CopyNest joined;
    const auto join = [&](const OwnedLayout &from, const OwnedLayout &to) {
        joined = join_whole(from, to);
        sort_levels(joined, &CopyNest::Level::from);
    };
    // Rows of two, and behind them the next two of each.
    const OwnedLayout from = nest(8, {{3, 32}, {5, 1000}, {2, 16}});
    join(from, nest(8, {{3, 80}, {5, 2000}, {2, 40}}));
    CHECK(joined.block == 8);
    REQUIRE(joined.levels.size() == 2);
    CHECK(joined.levels[0] == CopyNest::Level{5, 1000, 2000});
    CHECK(joined.levels[1] == CopyNest::Level{6, 16, 40});
    // On one side only.
    join(from, nest(8, {{3, 88}, {5, 2000}, {2, 40}}));
    CHECK(joined.levels.size() == 3);
}

namespace {

using SideLevel = CopyNest::Level;

CopyNest random_nest(ucdtest::Rng &rng, uint64_t word) {
    CopyNest copy{.block = word * (1 + rng.below(4)), .levels = {}};
    for (std::size_t n = rng.below(4); n > 0; --n) {
        const auto stride = [&] {
            return static_cast<int64_t>(word) * rng.between(-40, 40) * (rng.chance(30) ? 64 : 1);
        };
        copy.levels.push_back({1 + rng.below(7), stride(), stride()});
    }
    return copy;
}

// Where word `n` of a nest is, on the side that `stride` tells; behind the last comes the first.
uint64_t place_of(const CopyNest &copy, uint64_t word, uint64_t n, int64_t SideLevel::*stride) {
    const uint64_t words = copy.block / word;
    uint64_t place = n % words * word, block = n / words;
    for (std::size_t k = copy.levels.size(); k-- > 0; block /= copy.levels[k].count)
        place += block % copy.levels[k].count * static_cast<uint64_t>(copy.levels[k].*stride);
    return place;
}

std::vector<std::pair<uint64_t, uint64_t>> places_of(const CopyNest &copy) {
    uint64_t blocks = 1;
    for (const SideLevel &level : copy.levels) blocks *= level.count;
    std::vector<std::pair<uint64_t, uint64_t>> places;
    for (uint64_t n = 0; n < blocks; ++n)
        places.emplace_back(place_of(copy, copy.block, n, &SideLevel::from),
                            place_of(copy, copy.block, n, &SideLevel::to));
    return places;
}

} // namespace

TEST_CASE("jumps are counted wherever the words of a warp lie") {
    ucdtest::Rng rng(69);
    for (int i = 0; i < 2000; ++i) {
        const uint64_t word = uint64_t{1} << rng.below(5);
        const CopyNest copy = random_nest(rng, word);
        Tuning other = tuning;
        other.warp_lanes = rng.chance(50) ? 32 : 64;
        uint64_t jumps = 0;
        for (const auto side : {&SideLevel::from, &SideLevel::to})
            for (uint64_t lane = 1; lane < other.warp_lanes; ++lane)
                jumps += place_of(copy, word, lane, side) / other.sector_bytes !=
                         place_of(copy, word, lane - 1, side) / other.sector_bytes;
        INFO("nest " << i);
        REQUIRE(jumps_of(copy, word, other) == jumps);
    }
}

TEST_CASE("levels are sorted by the magnitude of their strides") {
    ucdtest::Rng rng(70);
    for (int i = 0; i < 500; ++i)
        for (const auto side : {&SideLevel::from, &SideLevel::to}) {
            CopyNest copy = random_nest(rng, 8);
            const CopyNest before = copy;
            sort_levels(copy, side);
            for (std::size_t k = 1; k < copy.levels.size(); ++k)
                CHECK(std::abs(copy.levels[k - 1].*side) >= std::abs(copy.levels[k].*side));
            auto places = places_of(copy), were = places_of(before);
            std::sort(places.begin(), places.end());
            std::sort(were.begin(), were.end());
            REQUIRE(places == were);
        }
}

TEST_CASE("neighbours are kept together where the last level can be divided") {
    ucdtest::Rng rng(71);
    const uint64_t counts[] = {63, 64, 65, 96, 128, 192, 320, 1024, 2048, 1000};
    std::size_t divided = 0;
    for (int i = 0; i < 500; ++i)
        for (const auto side : {&SideLevel::from, &SideLevel::to}) {
            CopyNest copy = random_nest(rng, 8);
            const auto stride = [&] { return 8 * rng.between(-40, 40); };
            copy.levels.push_back({counts[rng.below(std::size(counts))], stride(), stride()});
            const CopyNest before = copy;
            keep_neighbours_together(copy, side, tuning);
            auto places = places_of(copy), were = places_of(before);
            std::sort(places.begin(), places.end());
            std::sort(were.begin(), were.end());
            REQUIRE(places == were);
            const SideLevel last = before.levels.back();
            // Steps of one of the other levels that are shorter than a line and than the last's.
            bool close = false;
            for (std::size_t k = 0; k + 1 < before.levels.size(); ++k) {
                const auto step = std::abs(before.levels[k].*side);
                close |= step < 128 && step < std::abs(last.*side);
            }
            uint64_t part = 0;
            for (uint64_t p = 64; p <= 1024; p *= 2)
                if (last.count % p == 0 && last.count != p) part = p;
            const bool divides = close && part > 0;
            divided += divides;
            REQUIRE((copy.levels.size() == before.levels.size() + 1) == divides);
            if (divides) CHECK(copy.levels.back().count == part);
        }
    CHECK(divided > 50);
}

} // namespace gpu_plan_test
