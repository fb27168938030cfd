// From types to layouts: what becomes of descriptions at the limits of what is written out, and
// what layouts say of lists that are read when data moves.
#include "support/catch.hpp"

#include "unit/normal_form.hpp"

#include <ucd.h>

#include <vector>

namespace lowering_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

const ucd::Type &type_of(const BuiltType &built) {
    return *reinterpret_cast<const ucd::Type *>(built.get());
}

// Without a pattern; neighbours of 4 bytes do not touch.
std::intptr_t place(std::intptr_t i) {
    return 16 * i + i * i % 257 % 3 * 4;
}

// A struct of what was and an int, on so many levels. `wrapped`: below constructors of one.
RecipePtr chain(std::intptr_t levels, bool wrapped = false) {
    RecipePtr type = leaf(UCD_TYPE__INT);
    for (std::intptr_t i = 1; i <= levels; ++i) {
        type = structure({1, 1}, {0, place(i)}, {type, leaf(UCD_TYPE__INT)});
        if (wrapped) type = i % 2 == 0 ? contig(1, type) : hvector(1, 1, 1000, type);
    }
    return type;
}

RecipePtr list_like_chain(std::intptr_t levels) {
    Ints displs;
    for (std::intptr_t i = 0; i <= levels; ++i) displs.push_back(place(i));
    return hindexed_block(1, displs, leaf(UCD_TYPE__INT));
}

} // namespace

// What rewrites may write out is 2^20 entries, and 16 for each entry that is described.
TEST_CASE("As much more is written out as the description has entries") {
    constexpr std::intptr_t members = 1200, pairs = 50;
    // The rows of each pair touch, so that the lists of all their blocks are shorter by one each.
    const RecipePtr row = hvector(10, 1, 16, leaf(UCD_TYPE__INT));
    std::vector<RecipePtr> lists;
    Ints displs;
    for (std::intptr_t m = 0; m < members; ++m) {
        Ints places;
        for (std::intptr_t i = 0; i < pairs; ++i) {
            std::intptr_t at = 1000 * i + 8 * (i * i * (m % 52 + 1) % 53);
            if (i == 3) at += 8 * (m / 52); // no two lists are equal
            places.insert(places.end(), {at, at + 148});
        }
        lists.push_back(hindexed_block(1, places, row));
        displs.push_back(100000 * m + 8 * (m * m % 977));
    }
    const BuiltType type(structure(Ints(members, 1), displs, lists));
    const ucd::Layout &layout = ucd::layout_of(type_of(type));
    REQUIRE(layout.top().kind == ucd::NodeKind::structure);
    REQUIRE(layout.top().count == members);
    std::size_t as_blocks = 0;
    for (const ucd::NodeId child : layout.tables[layout.top().table].children)
        as_blocks += layout.nodes[child].kind == ucd::NodeKind::indexed;
    CHECK(as_blocks == members);
}

// More than 1024 blocks, so that the form does not follow from the list of blocks alone.
TEST_CASE("Deep structs become one list, in one place or in several") {
    const std::intptr_t levels = 2000;
    CHECK(form_of(chain(levels)) == form_of(list_like_chain(levels)));
    CHECK(form_of(chain(levels, true)) == form_of(list_like_chain(levels)));
    const auto twice = [](const RecipePtr &what) {
        return structure({1, 1, 1}, {0, 60001, 70000}, {what, leaf(UCD_TYPE__CHAR), what});
    };
    CHECK(form_of(twice(chain(levels))) == form_of(twice(list_like_chain(levels))));
}

TEST_CASE("A deep struct that a member repeats comes as often as it says") {
    const std::intptr_t levels = 50;
    const RecipePtr several = structure({3, 1}, {0, 90000}, {chain(levels), leaf(UCD_TYPE__CHAR)}),
                    list = structure({3, 1}, {0, 90000},
                                     {list_like_chain(levels), leaf(UCD_TYPE__CHAR)});
    CHECK(form_of(several) == form_of(list));
    CHECK(ucd::layout_of(type_of(BuiltType(several))).top().bytes == 3 * 4 * (levels + 1) + 1);
}

TEST_CASE("Members of one large shape keep their places") {
    const auto rows = [] { return hvector(2000, 1, 16, leaf(UCD_TYPE__DOUBLE)); };
    CHECK(form_of(structure({1, 1, 1}, {8, 50000, 700000}, {rows(), rows(), rows()})) ==
          "@8 indexed_block(3; 0, 49992, 699992) strided(2000, 16) block(8)");
}

TEST_CASE("Runs that are too long to be written out may have a period") {
    const RecipePtr rows = resized(hvector(2000, 1, 16, leaf(UCD_TYPE__DOUBLE)), 0, 50000);
    CHECK(form_of(indexed({900, 401, 900, 401, 900, 401}, {0, 1000, 2400, 3400, 4800, 5800},
                          rows)) == "@0 strided(3, 120000000) indexed(stride 50000, 2; 900@0, "
                                    "401@50000000) strided(2000, 16) block(8)");
}

TEST_CASE("Lists that differ in their children only are different") {
    const auto rows = [](std::intptr_t stride) {
        return hvector(2000, 1, stride, leaf(UCD_TYPE__DOUBLE));
    };
    const auto both = [&](std::intptr_t first, std::intptr_t second) {
        return structure({1, 1}, {0, 50000}, {rows(first), rows(second)});
    };
    CHECK(form_of(structure(
              {1, 1}, {0, 900000},
              {hvector(3, 1, 200000, both(16, 24)), hvector(4, 1, 200000, both(24, 16))})) ==
          "@0 [@0 strided(3, 200000) [@0 strided(2000, 16) block(8), @50000 strided(2000, 24) "
          "block(8)], @900000 strided(4, 200000) [@0 strided(2000, 24) block(8), @50000 "
          "strided(2000, 16) block(8)]]");
}

TEST_CASE("Indices are small where the bounds leave no room for large ones") {
    const std::intptr_t most = std::intptr_t{1} << 31;
    const auto is_small = [](std::intptr_t unit, std::intptr_t lb, std::intptr_t extent) {
        const BuiltType type(indexed_block_ref(1, {1, 0}, UCD_TYPE__UINT32_T, unit, lb, extent,
                                               leaf(UCD_TYPE__INT32_T)));
        const auto &lists = ucd::layout_of(type_of(type)).index_lists;
        REQUIRE(lists.size() == 1);
        return lists[0].small;
    };
    for (const std::intptr_t unit : {std::intptr_t{1}, std::intptr_t{2}, std::intptr_t{4096}}) {
        INFO("unit " << unit);
        CHECK(is_small(unit, 0, most * unit + 3));
        CHECK_FALSE(is_small(unit, 0, most * unit + 4));
        CHECK(is_small(-unit, -most * unit + 1, most * unit + 4));
        CHECK_FALSE(is_small(-unit, -most * unit, most * unit + 4));
    }
}

TEST_CASE("The elements of a type repeat at its packed size") {
    const BuiltType mixed(
        structure({1, 2}, {0, 32}, {leaf(UCD_TYPE__DOUBLE), leaf(UCD_TYPE__INT)})),
        equal(vector(3, 1, 2, leaf(UCD_TYPE__INT)));
    CHECK(ucd::elements_of(type_of(mixed)).extent == 16);
    CHECK(ucd::elements_of(type_of(equal)).extent == 12);
    // Equal ones need no layout.
    CHECK_FALSE(ucd::elements_of(type_of(mixed)).runs.nodes.empty());
    CHECK(ucd::elements_of(type_of(equal)).runs.nodes.empty());
}

} // namespace lowering_test
