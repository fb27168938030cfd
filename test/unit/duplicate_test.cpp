// What refers to a type: duplicates, which have the layout and the plans of their original, and the
// types that are made of it.

#include "flatten/writer.h"
#include "prepared/footprint.h"
#include "prepared/type_cache.h"
#include "support/catch.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"

#include <ucd.h>

#include <cstdint>
#include <vector>

namespace duplicate_test {

namespace {

const ucd::Type &type_behind(ucd_type_t handle) {
    return *reinterpret_cast<const ucd::Type *>(handle);
}

} // namespace

TEST_CASE("duplicates share what is derived from their original") {
    ucd_type_t original, first, second;
    REQUIRE(ucd_create_vector(100, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &original) == UCD_SUCCESS);
    REQUIRE(ucd_create_dup(original, UCD_INFO__NULL, &first) == UCD_SUCCESS);
    REQUIRE(ucd_create_dup(first, UCD_INFO__NULL, &second) == UCD_SUCCESS);
    CHECK(first != original);
    const ucd::TypeCache *cache = &ucd::cache_of(type_behind(second));
    CHECK(cache == &ucd::cache_of(type_behind(original)));
    CHECK(cache == &ucd::cache_of(type_behind(first)));

    // Whichever goes last.
    int in[200] = {}, out[100];
    in[198] = 7;
    REQUIRE(ucd_free(&original) == UCD_SUCCESS);
    REQUIRE(ucd_free(&first) == UCD_SUCCESS);
    ucdtest::pack_now(in, 1, second, 0, out, sizeof out);
    CHECK(out[99] == 7);
    REQUIRE(ucd_free(&second) == UCD_SUCCESS);

    ucd_type_t of_predefined;
    REQUIRE(ucd_create_dup(UCD_TYPE__DOUBLE, UCD_INFO__NULL, &of_predefined) == UCD_SUCCESS);
    CHECK(ucd::layout_of(type_behind(of_predefined)).nodes.size() == 1);
    REQUIRE(ucd_free(&of_predefined) == UCD_SUCCESS);
}

TEST_CASE("a type with other bounds has the layout of a long list below it") {
    using namespace ucdtest::recipes;
    std::vector<std::intptr_t> displs(2000), lengths(2000);
    for (std::size_t i = 0; i < displs.size(); ++i) {
        lengths[i] = 1 + static_cast<std::intptr_t>(i * i % 7 % 3);
        displs[i] = 100 + 5 * static_cast<std::intptr_t>(i * i);
    }
    const ucdtest::RecipePtr list = indexed(lengths, displs, leaf(UCD_TYPE__INT));
    const ucdtest::BuiltType built(resized(resized(list, -8, 80), 4, 1 << 30)), direct(list);
    const ucd::Type &type = type_behind(built.get()), &below = *type.child->child;
    const std::vector<std::uint8_t> before = ucd::flatten(type);
    CHECK(&ucd::layout_of(type) == &ucd::layout_of(below));
    CHECK(ucd::layout_of(type).start == ucd::layout_of(type_behind(direct.get())).start);
    CHECK(ucd::flatten(type) == before);
    // Each counts once.
    CHECK(ucd::footprint_of(type) < ucd::footprint_of(below) + 2000);
    const ucdtest::BuiltType short_one(
        resized(indexed({2, 1}, {9, 3}, leaf(UCD_TYPE__INT)), 0, 80));
    (void)ucd::layout_of(type_behind(short_one.get()));
    CHECK(type_behind(short_one.get()).child->state.cache.load() == nullptr);
}

TEST_CASE("a struct gives up every reference to its members") {
    ucd_type_t members[2];
    for (ucd_type_t &member : members)
        REQUIRE(ucd_create_vector(3, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &member) == UCD_SUCCESS);
    const auto references = [&](int i) { return type_behind(members[i]).state.references.load(); };
    // Neighbours that are the same, and the same in several places.
    const int which[] = {0, 0, 1, 0, 1, 1, 1};
    ucd_type_t types[7], type;
    uintptr_t counts[2] = {};
    intptr_t lengths[7], displs[7];
    for (int i = 0; i < 7; ++i) {
        types[i] = members[which[i]];
        ++counts[which[i]];
        lengths[i] = 1;
        displs[i] = 100 * i;
    }
    REQUIRE(ucd_create_struct(7, lengths, displs, types, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    for (const int i : {0, 1}) CHECK(references(i) == 1 + counts[i]);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    for (const int i : {0, 1}) CHECK(references(i) == 1);
    for (ucd_type_t &member : members) REQUIRE(ucd_free(&member) == UCD_SUCCESS);
}

} // namespace duplicate_test
