// What the CPU backend makes of layouts: the levels, lists and ways of its plans, at the limits
// where they change. That any plan moves the right bytes is tested elsewhere, so a limit that is
// off by one is seen here only.
#include "plan.h"

#include "support/catch.hpp"

#include "prepared/type_cache.h"
#include "registry.h"
#include "support/moves/recipe_build.hpp"
#include "support/random/rng.hpp"
#include "types/type.h"

#include <algorithm>
#include <string>
#include <vector>

namespace seq_plan_test {

namespace {

using namespace ucdtest::recipes;
using ucd::seq::Leaf;
using ucd::seq::LevelKind;
using ucd::seq::NestPlan;
using ucd::seq::SeqPlan;
using ucdtest::BuiltType;
using ucdtest::RecipePtr;

// Valid as long as the type is.
SeqPlan plan_of(const BuiltType &type, bool repeated = false, uint64_t max_bytes = UINT64_MAX) {
    const ucd::Type *resolved = nullptr;
    REQUIRE(ucd::resolve(type.get(), "type", resolved).ok());
    return SeqPlan(ucd::layout_of(*resolved), resolved->extent(), repeated, max_bytes);
}

// s: strided, b: a list of blocks, i: runs; with the count of each level.
std::string levels(const NestPlan &p) {
    std::string text;
    for (unsigned k = 0; k < p.levels; ++k)
        text += (k > 0 ? " " : "") + std::string(1, "sbi"[static_cast<int>(p.kinds[k])]) +
                std::to_string(p.nest.level[k].count);
    return text;
}

struct Strides {
    std::intptr_t count, stride;
};

// Strides around an int, the outermost first.
RecipePtr strides(const std::vector<Strides> &list, std::intptr_t ints = 1) {
    RecipePtr type = contig(ints, leaf(UCD_TYPE__INT));
    for (auto l = list.rbegin(); l != list.rend(); ++l)
        type = hvector(l->count, 1, l->stride, type);
    return type;
}

std::string merged(const std::vector<Strides> &list, bool repeated = false,
                   std::intptr_t ints = 1) {
    const BuiltType type(strides(list, ints));
    const SeqPlan plan = plan_of(type, repeated);
    if (plan.form == SeqPlan::Form::nest && plan.top.permuted != nullptr) return "permuted";
    return plan.form == SeqPlan::Form::nest ? levels(plan.top) : "no nest";
}

constexpr std::intptr_t far = 1 << 26, middle = 1 << 19, near = 1 << 12;

// Members of a struct that are a nest each.
struct Members {
    std::vector<RecipePtr> types;
    std::vector<std::intptr_t> lengths, displs;
};
Members six_nests() {
    Members six;
    for (std::intptr_t i = 0; i < 6; ++i) {
        six.types.push_back(strides({{3000 + i, 8 + 4 * (i % 3)}, {2, 4000000}}));
        six.lengths.push_back(1);
        six.displs.push_back(i * 9000000);
    }
    return six;
}

} // namespace

TEST_CASE("three levels stay, and of four the two are merged that make the shortest list") {
    CHECK(merged({{5, middle}, {6, near}, {40, 100}}) == "s5 s6 s40");
    CHECK(merged({{5, far}, {6, middle}, {7, near}, {40, 100}}) == "b30 s7 s40");
    CHECK(merged({{9, far}, {6, middle}, {7, near}, {40, 100}}) == "s9 b42 s40");
    // The outermost count is that of the call.
    CHECK(merged({{5, middle}, {6, near}, {40, 100}}, true) == "s2 b30 s40");
    CHECK(merged({{5, far}, {6, middle}, {7, near}, {40, 100}}, true) == "s2 b210 s40");
}

TEST_CASE("levels whose order is better changed are not merged") {
    // The innermost leaves the cache line, and another one does not: see is_permuted().
    for (const std::intptr_t step : {63, -63, 60, 8})
        CHECK(merged({{20, far}, {10, middle}, {10, step}, {12, 5000}}) == "permuted");
    for (const std::intptr_t step : {64, -64, 100})
        CHECK(merged({{20, far}, {10, middle}, {10, step}, {12, 5000}}) == "s20 s10 b120");
    // Too few bytes for that.
    CHECK(merged({{4, far}, {4, middle}, {16, 8}, {7, 5000}}) == "s4 s4 b112");
    CHECK(merged({{4, far}, {4, middle}, {16, 8}, {8, 5000}}) == "permuted");
}

TEST_CASE("short rows become longer if the list stays short") {
    CHECK(merged({{5, far}, {6, middle}, {20, near}, {16, 20}}) == "b30 s20 s16");
    CHECK(merged({{5, far}, {6, middle}, {20, near}, {15, 20}}) == "s5 s6 b300");
    CHECK(merged({{5, far}, {6, middle}, {128, 1000}, {4, 20}}) == "s5 s6 b512");
    CHECK(merged({{5, far}, {6, middle}, {129, 1000}, {4, 20}}) == "b30 s129 s4");
}

TEST_CASE("rows of eight small blocks stay as they are") {
    const auto rows_of = [](std::intptr_t count, std::intptr_t ints) {
        return merged({{5, far}, {6, middle}, {20, near}, {count, 20 * ints}}, false, ints);
    };
    for (const std::intptr_t ints : {1, 2}) CHECK(rows_of(8, ints) == "b30 s20 s8");
    for (const std::intptr_t ints : {3, 4, 16}) CHECK(rows_of(8, ints) == "s5 s6 b160");
    CHECK(rows_of(7, 1) == "s5 s6 b140");
    CHECK(rows_of(9, 1) == "s5 s6 b180");
    CHECK(merged({{5, far}, {6, middle}, {7, 1 << 16}, {20, near}, {8, 20}}) == "b30 b140 s8");
    // The level around them is merged with others or stays; the outermost has the call's count.
    CHECK(merged({{6, middle}, {20, near}, {8, 20}}, true) == "s2 b120 s8");
    // Levels that are too long for a list: no other pair is left to merge.
    CHECK(merged({{5000, far}, {5000, middle}, {20, near}, {8, 20}}) == "s5000 s5000 b160");
}

TEST_CASE("merged levels have a list of at most 4096 entries") {
    CHECK(merged({{64, far}, {64, middle}, {65, near}, {65, 200}}) == "b4096 s65 s65");
    CHECK(merged({{65, far}, {64, middle}, {64, near}, {65, 200}}) == "s65 b4096 s65");
    CHECK(merged({{65, far}, {65, middle}, {64, near}, {65, 200}}) == "no nest");
    CHECK(merged({{4097, far}, {1000, middle}, {5, near}, {900, 200}}) == "no nest");
    CHECK(merged({{4097, far}, {819, middle}, {5, near}, {900, 200}}) == "s4097 b4095 s900");
}

TEST_CASE("nests have up to eight levels") {
    std::vector<Strides> list;
    for (int k = 7; k >= 0; --k) list.push_back({2, std::intptr_t{100} << 3 * k});
    CHECK(merged(list) != "no nest");
    CHECK(merged(list, true) == "no nest");
    list.insert(list.begin(), {2, std::intptr_t{100} << 24});
    CHECK(merged(list) == "no nest");
}

TEST_CASE("lists have the displacements of the levels that they are merged of") {
    const BuiltType type(strides({{3, far}, {2, middle}, {7, near}, {40, 100}}));
    const SeqPlan plan = plan_of(type);
    REQUIRE(levels(plan.top) == "b6 s7 s40");
    REQUIRE(plan.top.lists.size() == 1);
    CHECK(plan.top.lists[0] ==
          std::vector<int64_t>{0, middle, far, far + middle, 2 * far, 2 * far + middle});
    CHECK(plan.top.each[0] == 7 * 40 * 4);
    CHECK(plan.top.each[1] == 40 * 4);
    CHECK(plan.top.each[2] == 4);
    CHECK(plan.memory() >= sizeof plan + 6 * sizeof(int64_t));
    const BuiltType without(strides({{6, middle}, {7, near}, {40, 100}}));
    CHECK(plan_of(without).top.list_bytes() == 0);
}

namespace {

// Runs of so many ints; each is followed by a gap of one int.
RecipePtr runs(const std::vector<std::intptr_t> &lengths) {
    std::vector<std::intptr_t> displs;
    std::intptr_t at = 0;
    for (const std::intptr_t length : lengths) {
        displs.push_back(at);
        at += length + 1;
    }
    return indexed(lengths, displs, leaf(UCD_TYPE__INT));
}

std::string pieces(const std::vector<std::intptr_t> &lengths) {
    const BuiltType type(runs(lengths));
    const SeqPlan plan = plan_of(type);
    return levels(plan.top) + " of " + std::to_string(plan.top.nest.block);
}

// `a` runs of `x` ints and `b` of `y`, in no order that comes again.
std::vector<std::intptr_t> mixed(std::size_t a, std::intptr_t x, std::size_t b, std::intptr_t y) {
    std::vector<std::intptr_t> list(a, x);
    list.insert(list.end(), b, y);
    ucdtest::Rng rng(5);
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[rng.below(i)]);
    return list;
}

} // namespace

TEST_CASE("runs become pieces if the list of those is little longer") {
    // Of short runs, fewer than three pieces for two runs.
    CHECK(pieces(mixed(51, 2, 49, 4)) == "b149 of 8");
    CHECK(pieces(mixed(50, 2, 50, 4)) == "i100 of 8");
    // Where a run is longer than 32 bytes, up to three pieces a run.
    CHECK(pieces(mixed(10, 3, 10, 9)) == "b40 of 12");
    CHECK(pieces(mixed(10, 2, 10, 10)) == "b60 of 8");
    std::vector<std::intptr_t> more = mixed(10, 2, 10, 10);
    *std::find(more.begin(), more.end(), 10) = 12;
    CHECK(pieces(more) == "i20 of 8");
    CHECK(pieces(mixed(10, 4, 10, 8)) == "i20 of 16");
    // Pieces of up to 64 bytes.
    CHECK(pieces(mixed(10, 16, 10, 32)) == "b30 of 64");
    CHECK(pieces(mixed(10, 17, 10, 34)) == "i20 of 4");
    // No common piece.
    CHECK(pieces(mixed(10, 3, 10, 4)) == "i20 of 4");
}

TEST_CASE("the memory of a plan's lists is known before it is made") {
    const auto check = [](const RecipePtr &recipe, uint64_t entries) {
        const BuiltType type(recipe);
        const ucd::Type *resolved = nullptr;
        REQUIRE(ucd::resolve(type.get(), "type", resolved).ok());
        const ucd::Layout &layout = ucd::layout_of(*resolved);
        const uint64_t known = ucd::seq::list_bytes_of(layout, layout.top(), false);
        const NestPlan plan = ucd::seq::make_nest(layout, layout.top(), false);
        CHECK(known >= plan.list_bytes());
        // And little more: the entries, and the lists themselves.
        CHECK(known % sizeof(int64_t) == 0);
        if (entries == 0)
            CHECK(known == 0);
        else
            CHECK(known == entries * sizeof(int64_t) + 8 * sizeof(std::vector<int64_t>));
    };
    check(strides({{3, 40}}), 0);
    check(strides({{5, 1000}, {4, 200}, {3, 40}}), 0);
    check(runs(mixed(50, 2, 50, 4)), 0);
    check(runs(mixed(51, 2, 49, 4)), 149);
    check(strides({{7, 100000}, {5, 7000}, {4, 800}, {30, 10}}), 20);
}

TEST_CASE("the host is one device, which is there") {
    std::string reason;
    const ucd::Owner<ucd::Backend> host = ucd::registry()[0].open(reason);
    REQUIRE(host != nullptr);
    ucd::BackendState state;
    REQUIRE(host->probe(state).ok());
    CHECK(state.available);
    CHECK(state.devices == 1);
    const ucd::BackendState *inspected = nullptr;
    REQUIRE(host->inspect(inspected).ok());
    CHECK(inspected->devices == 1);
}

TEST_CASE("plans know their longest run and how many there are") {
    const BuiltType type(runs({1, 7, 3, 5, 2, 9, 4}));
    const SeqPlan plan = plan_of(type);
    REQUIRE(levels(plan.top) == "i7");
    CHECK(plan.top.nest.longest_run == 36);
    CHECK(plan.top.nest.runs == 7);
    CHECK(plan.top.last.at[0] == 6);
    CHECK(plan.top.last.in_run[0] == 3);
    CHECK(plan.top.leaf == Leaf::r4);
}

TEST_CASE("leaves fit the block") {
    const struct {
        std::uint64_t most;
        Leaf leaf;
    } leaves[] = {{1, Leaf::w1},    {2, Leaf::w2},   {3, Leaf::o3},   {4, Leaf::w4},
                  {7, Leaf::o8},    {8, Leaf::w8},   {15, Leaf::o16}, {16, Leaf::w16},
                  {24, Leaf::o24},  {32, Leaf::o32}, {40, Leaf::o40}, {48, Leaf::o48},
                  {64, Leaf::o64},  {80, Leaf::o80}, {96, Leaf::o96}, {128, Leaf::o128},
                  {512, Leaf::p64}, {600, Leaf::m}};
    std::uint64_t bytes = 1;
    for (const auto &l : leaves)
        for (; bytes <= l.most; ++bytes) {
            INFO(bytes << " bytes");
            CHECK(ucd::seq::leaf_for_block(bytes) == l.leaf);
        }
    CHECK(ucd::seq::leaf_for_block(0) == Leaf::m);
    for (std::uint64_t unit = 1; unit <= 64; ++unit) {
        INFO(unit << " bytes");
        CHECK(ucd::seq::leaf_for_runs(unit) == (unit % 16 == 0  ? Leaf::r16
                                                : unit % 8 == 0 ? Leaf::r8
                                                : unit % 4 == 0 ? Leaf::r4
                                                : unit % 2 == 0 ? Leaf::r2
                                                                : Leaf::r1));
    }
}

namespace {

bool permuted(const std::vector<Strides> &list, bool repeated = false, std::intptr_t ints = 1) {
    const BuiltType type(strides(list, ints));
    const SeqPlan plan = plan_of(type, repeated);
    return plan.form == SeqPlan::Form::nest && plan.top.permuted != nullptr;
}

} // namespace

TEST_CASE("tiles are for rows whose steps stay in a line and columns whose steps leave it") {
    CHECK(permuted({{4, 8}, {4, 1000}}));
    CHECK_FALSE(permuted({{3, 8}, {4, 1000}}));
    CHECK_FALSE(permuted({{4, 8}, {3, 1000}}));
    CHECK(permuted({{4, 63}, {9, 1000}}));
    CHECK(permuted({{4, -63}, {9, 1000}}));
    CHECK_FALSE(permuted({{4, 64}, {9, 1000}}));
    CHECK(permuted({{9, 8}, {4, 64 + 8}}));
    CHECK(permuted({{4, 62}, {9, 64}}, false, 15));
    CHECK_FALSE(permuted({{4, 62}, {9, 64}}, false, 16));
    CHECK(permuted({{4, 8}, {9, -64}}));
    CHECK_FALSE(permuted({{4, 8}, {9, 63}}));
    // A level above, or between.
    CHECK(permuted({{5, near}, {4, 8}, {9, 100}}));
    CHECK(permuted({{4, 8}, {5, near}, {9, 100}}));
    CHECK_FALSE(permuted({{5, near}, {5, middle}, {9, 100}}));
    // Several levels that are contiguous on one side are as good as one.
    CHECK(permuted({{2, 8}, {2, 4}, {9, 100}}));
    CHECK(permuted({{9, 4}, {2, 1000}, {2, 100}}));
    // Any number of rows may come.
    CHECK_FALSE(permuted({{9, 1000}}, false));
    const BuiltType column(resized(strides({{9, 1000}}), 0, 8));
    CHECK(plan_of(column, true).top.permuted != nullptr);
    CHECK(plan_of(column, false).top.permuted == nullptr);
}

TEST_CASE("rows of 512 bytes on average are long") {
    const auto are_long = [](const RecipePtr &recipe) {
        const BuiltType type(recipe);
        return plan_of(type).has_long_rows;
    };
    CHECK(are_long(strides({{128, 8}})));
    CHECK_FALSE(are_long(strides({{127, 8}})));
    CHECK(are_long(strides({{3, near}, {128, 8}})));
    CHECK_FALSE(are_long(strides({{3, near}, {127, 8}})));
    // Lists of rows and runs of them.
    const auto list = [](std::intptr_t ints) {
        return indexed({2, 1, 3}, {0, 7, 19}, resized(strides({{ints, 8}}), 0, 3000));
    };
    CHECK(are_long(list(128)));
    CHECK_FALSE(are_long(list(127)));
}

TEST_CASE("plans say what they are") {
    const auto said = [](const RecipePtr &recipe, uint64_t max_bytes = UINT64_MAX) {
        const BuiltType type(recipe);
        return plan_of(type, false, max_bytes).description();
    };
    const auto begins = [](const std::string &text, const std::string &with) {
        INFO(text);
        CHECK(text.substr(0, with.size()) == with);
    };
    const auto ends = [](const std::string &text, const std::string &with) {
        INFO(text);
        CHECK(text.size() > with.size());
        CHECK(text.substr(text.size() - std::min(with.size(), text.size())) == with);
    };
    CHECK(said(contig(0, leaf(UCD_TYPE__INT))) == "nothing to move");
    CHECK(said(contig(9, leaf(UCD_TYPE__INT))) == "memcpy: one block");
    ends(said(strides({{9, 8}})), ": one nest");
    ends(said(strides({{5, far}, {6, middle}, {7, near}, {16, 20}})),
         ": one nest, of merged levels");
    CHECK(said(strides({{5, near}, {4, 8}, {9, 100}})) ==
          "transpose_w4: 3 levels, in an order of their own");
    // More different members than a list of blocks would have room for.
    auto [members, lengths, displs] = six_nests();
    const std::string tree = said(structure(lengths, displs, members));
    begins(tree, "a walk over the upper levels, 6 nests below it: pack_");
    ends(tree, " ...");
    members.resize(4);
    lengths.resize(4);
    displs.resize(4);
    const std::string four = said(structure(lengths, displs, members));
    begins(four, "a walk over the upper levels, 4 nests below it: pack_");
    CHECK(four.find("...") == std::string::npos);
    CHECK(std::count(four.begin(), four.end(), ' ') == 9 + 4);
    begins(said(structure(lengths, displs, members), 100), "a walk down to every block: ");
    // One block is no nest.
    const std::string with_block =
        said(structure({1, 1, 1}, {0, 9000000, 18000000},
                       {members[0], contig(9, leaf(UCD_TYPE__INT)), members[1]}));
    begins(with_block, "a walk over the upper levels, 3 nests below it: pack_");
    CHECK(with_block.find(" memcpy pack_") != std::string::npos);
    CHECK(std::count(with_block.begin(), with_block.end(), ' ') == 9 + 3);
}

TEST_CASE("a plan of several nests has the memory of each") {
    auto [members, lengths, displs] = six_nests();
    const BuiltType type(structure(lengths, displs, members));
    const SeqPlan plan = plan_of(type);
    REQUIRE(plan.form == SeqPlan::Form::tree);
    CHECK(plan.memory() > sizeof plan + 6 * sizeof(NestPlan));
    CHECK(plan.memory() < sizeof plan + 7 * sizeof(NestPlan));
    // With a list of 30 displacements each, of two levels that are merged.
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto more = static_cast<std::intptr_t>(i);
        members[i] = strides({{5, far}, {6, middle}, {7, near}, {40 + more, 100}});
        displs[i] = more * 8 * far;
    }
    const BuiltType listed(structure(lengths, displs, members));
    const SeqPlan with_lists = plan_of(listed);
    REQUIRE(with_lists.form == SeqPlan::Form::tree);
    constexpr std::size_t list = 30 * sizeof(std::int64_t);
    CHECK(with_lists.memory() >= sizeof plan + 6 * (sizeof(NestPlan) + list));
    CHECK(with_lists.memory() < sizeof plan + 7 * (sizeof(NestPlan) + list));
}

TEST_CASE("loops are found for up to ten levels") {
    std::vector<Strides> list;
    std::intptr_t stride = 100;
    for (std::size_t level = 1; level <= 12; ++level, stride *= 3) {
        list.insert(list.begin(), {2, stride});
        const BuiltType type(strides(list));
        const ucd::Type *resolved = nullptr;
        REQUIRE(ucd::resolve(type.get(), "type", resolved).ok());
        const ucd::Layout &layout = ucd::layout_of(*resolved);
        ucd::seq::Axes axes;
        if (level < 9) continue; // few blocks may become a list
        INFO(level << " levels");
        CHECK(ucd::seq::find_axes(layout, layout.top(), axes) == (level <= 10));
        if (level <= 10) CHECK(axes.count == level);
    }
}

} // namespace seq_plan_test
