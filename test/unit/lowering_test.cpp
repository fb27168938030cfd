// From types to layouts: what becomes of descriptions at the limits of what is written out, and
// what layouts say of lists that are read when data moves.
#include "support/catch.hpp"

#include "unit/normal_form.hpp"

#include "layout/normalise/lower.h"

#include <ucd.h>

#include <vector>

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

const ucd::Type &type_of(const BuiltType &built) {
    return *reinterpret_cast<const ucd::Type *>(built.get());
}

std::string form_within(const BuiltType &built, uint64_t max_bytes) {
    return to_text(ucd::lower_to_layout(type_of(built), max_bytes), UINT64_MAX);
}

// Without a pattern; neighbours of 4 bytes do not touch.
std::intptr_t place(std::intptr_t i) {
    return 16 * i + i * i % 257 % 3 * 4;
}

// A struct of what was and an int, on so many levels.
RecipePtr chain(std::intptr_t levels) {
    RecipePtr type = leaf(UCD_TYPE__INT);
    for (std::intptr_t i = 1; i <= levels; ++i)
        type = structure({1, 1}, {0, place(i)}, {type, leaf(UCD_TYPE__INT)});
    return type;
}

RecipePtr list_like_chain(std::intptr_t levels) {
    Ints displs;
    for (std::intptr_t i = 0; i <= levels; ++i) displs.push_back(place(i));
    return hindexed_block(1, displs, leaf(UCD_TYPE__INT));
}

} // namespace

TEST_CASE("Where bytes are limited, as much is written out as the description has entries") {
    // Runs of two or three blocks that do not touch become a list of blocks: 1.5 times as many
    // entries more as there are runs.
    Ints lengths, displs;
    for (std::intptr_t i = 0; i < 8000; ++i) {
        lengths.push_back(2 + i % 2);
        displs.push_back(100 * i + i * i % 11);
    }
    const BuiltType type(hindexed(lengths, displs, resized(leaf(UCD_TYPE__INT), 0, 8)));
    CHECK(form_within(type, uint64_t{1} << 24) == form_of(type.get()));
    CHECK(form_of(type.get()).find("indexed_block(20000;") != std::string::npos);
}

// More than 1024 blocks, so that the form does not follow from the list of blocks alone.
TEST_CASE("Deep structs become one list, in one place or in several") {
    const std::intptr_t levels = 2000;
    CHECK(form_of(chain(levels)) == form_of(list_like_chain(levels)));
    const auto twice = [](const RecipePtr &what) {
        return structure({1, 1, 1}, {0, 60001, 70000}, {what, leaf(UCD_TYPE__CHAR), what});
    };
    CHECK(form_of(twice(chain(levels))) == form_of(twice(list_like_chain(levels))));
}

TEST_CASE("Members of one large shape keep their places") {
    const auto rows = [] { return hvector(2000, 1, 16, leaf(UCD_TYPE__DOUBLE)); };
    CHECK(form_of(structure({1, 1, 1}, {8, 50000, 700000}, {rows(), rows(), rows()})) ==
          "@8 indexed_block(3; 0, 49992, 699992) strided(2000, 16) block(8)");
}

TEST_CASE("Indices are small where the bounds leave no room for large ones") {
    const std::intptr_t most = std::intptr_t{1} << 31;
    const auto is_small = [](std::intptr_t unit, std::intptr_t lb, std::intptr_t extent) {
        const BuiltType type(indexed_block_ref(1, {1, 0}, UCD_TYPE__UINT32_T, unit, lb, extent,
                                               leaf(UCD_TYPE__INT32_T)));
        return ucd::layout_of(type_of(type)).index_lists.at(0).small;
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
}
