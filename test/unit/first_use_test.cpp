// What is derived from a type at its first use, and what is not.
#include "support/catch.hpp"

#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"

#include "layout/owned_layout.h"
#include "prepared/footprint.h"
#include "prepared/plain_list.h"
#include "prepared/type_cache.h"

#include <ucd.h>

#include <cstring>
#include <vector>

namespace first_use_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

const ucd::Type &type_of(const BuiltType &built) {
    return *reinterpret_cast<const ucd::Type *>(built.get());
}

bool has_layout(const BuiltType &built) {
    return type_of(built).state.cache.load() != nullptr;
}

void pack(const BuiltType &built, std::uintptr_t count = 1, std::uintptr_t offset = 0) {
    std::vector<double> memory(200), packed(200);
    pack_now(memory.data() + 50, count, built.get(), offset, packed.data(), 1600);
}

bool is_plain(const RecipePtr &recipe) {
    const BuiltType built(recipe);
    return ucd::PlainList(type_of(built)).list != nullptr;
}

} // namespace

TEST_CASE("a list that is used once has no layout") {
    for (const RecipePtr &list :
         {indexed_block(2, {9, 3, 30}, leaf(UCD_TYPE__DOUBLE)),
          indexed({2, 0, 1}, {9, 3, 30}, leaf(UCD_TYPE__DOUBLE)),
          resized(hindexed({2, 1}, {9, 40}, leaf(UCD_TYPE__INT)), -8, 400)}) {
        const BuiltType built(list);
        pack(built);
        CHECK_FALSE(has_layout(built));
        pack(built);
        CHECK(has_layout(built));
    }
}

TEST_CASE("the uses of duplicates are uses of their original") {
    const BuiltType list(indexed_block(2, {9, 3, 30}, leaf(UCD_TYPE__DOUBLE)));
    const auto dup_of = [](const BuiltType &built) {
        ucd_type_t type = UCD_TYPE__NULL;
        REQUIRE(ucd_create_dup(built.get(), UCD_INFO__NULL, &type) == UCD_SUCCESS);
        return BuiltType(type);
    };
    const BuiltType one = dup_of(list), two = dup_of(one);
    pack(two);
    CHECK_FALSE(has_layout(list));
    pack(one);
    CHECK(has_layout(list));
    CHECK(ucd::PlainList(type_of(dup_of(two))).list == nullptr);
}

TEST_CASE("all that is derived from a type counts as its memory") {
    const BuiltType built(structure(
        {1, 1}, {0, 100000},
        {vector(2000, 1, 2, leaf(UCD_TYPE__DOUBLE)), vector(3000, 1, 3, leaf(UCD_TYPE__INT))}));
    const ucd::Type &type = type_of(built);
    const uint64_t tree = ucd::footprint_of(type);
    (void)ucd::layout_of(type);
    const uint64_t with_layout = ucd::footprint_of(type);
    CHECK(with_layout > tree);
    const ucd::BoxIndex &boxes = ucd::boxes_of(type);
    REQUIRE(boxes.memory() > 0);
    const uint64_t with_boxes = with_layout + sizeof boxes + boxes.memory();
    CHECK(ucd::footprint_of(type) == with_boxes);
    const ucd::OwnedLayout &runs = ucd::runs_of(type);
    REQUIRE(ucd::bytes_of(runs) > 0);
    CHECK(ucd::footprint_of(type) == with_boxes + sizeof runs + ucd::bytes_of(runs));
}

// What a type from bytes may take is divided before its boxes are looked for.
TEST_CASE("the memory of an index of boxes is known before it is made") {
    for (const std::intptr_t entries : {63, 64, 65, 128}) {
        std::vector<std::intptr_t> displs;
        for (std::intptr_t i = 0; i < entries; ++i) displs.push_back(5 * i * i);
        const BuiltType built(indexed_block(1, displs, leaf(UCD_TYPE__DOUBLE)));
        const ucd::Type &type = type_of(built);
        CHECK(ucd::BoxIndex::memory_for(ucd::layout_of(type)) == ucd::boxes_of(type).memory());
    }
}

TEST_CASE("what is no whole list has a layout from its first use on") {
    const RecipePtr list = indexed_block(2, {9, 3, 30}, leaf(UCD_TYPE__DOUBLE));
    const BuiltType part(list), several(list), vectors(vector(3, 1, 2, leaf(UCD_TYPE__DOUBLE)));
    pack(part, 1, 8);
    CHECK(has_layout(part));
    pack(several, 2);
    CHECK(has_layout(several));
    pack(vectors);
    CHECK(has_layout(vectors));
}

TEST_CASE("which lists are plain") {
    const RecipePtr d = leaf(UCD_TYPE__DOUBLE);
    CHECK(is_plain(indexed_block(2, {9, 3}, contig(3, d))));
    CHECK(is_plain(indexed_block(1, {9, 3}, resized(d, 0, 24)))); // single ones with gaps
    CHECK(is_plain(indexed({1, 1}, {9, 3}, resized(d, 0, 24))));
    CHECK(is_plain(indexed({1, 2}, {9, 3}, structure({1, 1}, {0, 8}, {d, d}))));
    CHECK_FALSE(is_plain(indexed_block(2, {9, 3}, resized(d, 0, 24))));
    CHECK_FALSE(is_plain(indexed({1, 2}, {9, 3}, resized(d, 0, 24))));
    CHECK_FALSE(is_plain(indexed_block(1, {9, 3}, vector(2, 1, 2, d))));
    CHECK_FALSE(is_plain(indexed_block(1, {9, 3}, leaf(UCD_TYPE__SHORT_INT))));
    // As many bytes as its extent, in another order.
    CHECK_FALSE(is_plain(indexed_block(1, {9, 3}, indexed_block(1, {1, 0}, d))));
    CHECK_FALSE(is_plain(contig(2, indexed_block(1, {9, 3}, d))));
}

} // namespace first_use_test
