// What a packed stream is made of: element boundaries, and runs of one predefined type.
#include "support/catch.hpp"

#include "support/moves/calls.hpp"
#include "support/moves/flat_bytes.hpp"
#include "support/moves/subject.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace elements_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

TEST_CASE("runs join across repetitions, and different handles never") {
    // INT, then LONG, in memory and in the stream; from one to the next, INT follows LONG.
    const BuiltType mixed(structure({1, 2}, {0, 8}, {leaf(UCD_TYPE__INT), leaf(UCD_TYPE__LONG)}));
    const BuiltType sandwich(structure(
        {1, 2, 3}, {0, 8, 24}, {leaf(UCD_TYPE__INT), leaf(UCD_TYPE__LONG), leaf(UCD_TYPE__INT)}));
    const BuiltType names(
        structure({1, 1}, {0, 8}, {leaf(UCD_TYPE__LONG), leaf(UCD_TYPE__INT64_T)}));
    std::uintptr_t listed = 0, total = 0;
    ucd_element_run_t run;
    const std::uintptr_t many = std::uintptr_t{1} << 40;
    REQUIRE(ucd_get_element_runs(many, mixed.get(), 2 * many - 1, &run, 1, &listed, &total) ==
            UCD_SUCCESS);
    CHECK(total == 2 * many);
    CHECK(same(run, {UCD_TYPE__LONG, 8, 2, many * 20 - 16}));
    REQUIRE(ucd_get_element_runs(many, sandwich.get(), 2 * many - 2, &run, 1, &listed, &total) ==
            UCD_SUCCESS);
    CHECK(total == 2 * many + 1);
    CHECK(same(run, {UCD_TYPE__INT, 4, 4, (many - 1) * 32 - 12}));
    REQUIRE(ucd_get_element_runs(5, names.get(), 9, &run, 1, &listed, &total) == UCD_SUCCESS);
    CHECK(total == 10);
    CHECK(same(run, {UCD_TYPE__INT64_T, 8, 1, 72}));
    REQUIRE(ucd_get_element_runs(many, UCD_TYPE__2INT, 0, &run, 1, &listed, &total) == UCD_SUCCESS);
    CHECK(total == 1);
    CHECK(same(run, {UCD_TYPE__2INT, 8, many, 0}));
}

TEST_CASE("the largest types have runs") {
    const std::intptr_t half = INTPTR_MAX / 2;
    const BuiltType type(
        structure({half, half}, {0, half}, {leaf(UCD_TYPE__BYTE), leaf(UCD_TYPE__CHAR)}));
    std::uintptr_t listed = 0, total = 0, boundary = 0;
    ucd_element_run_t runs[3];
    REQUIRE(ucd_get_element_runs(1, type.get(), 0, runs, 3, &listed, &total) == UCD_SUCCESS);
    CHECK(listed == 2);
    CHECK(same(runs[1], {UCD_TYPE__CHAR, 1, static_cast<std::uint64_t>(half),
                         static_cast<std::uint64_t>(half)}));
    CHECK(ucd_element_boundary(1, type.get(), INTPTR_MAX - 2, &boundary) == UCD_SUCCESS);
    CHECK(boundary == INTPTR_MAX - 2);
}

// Structures with more members than are counted one by one, within each other; pairs, empty members
// and lengths of 0 among them. Types of one kind of element are counted without a walk.
TEST_CASE("elements of long structures are counted wherever their stream is cut") {
    const ucd_type_t kinds[] = {UCD_TYPE__INT,    UCD_TYPE__SHORT_INT, UCD_TYPE__BYTE,
                                UCD_TYPE__2FLOAT, UCD_TYPE__DOUBLE,    UCD_TYPE__LONG_DOUBLE_INT};
    for (const int members : {1, 63, 64, 65, 128, 129, 300}) {
        Case one("elements", static_cast<std::uint64_t>(members));
        Rng &rng = one.rng();
        RecipePtr inner = contig(0, leaf(UCD_TYPE__INT));
        for (int level = 0; level < 3; ++level) {
            std::vector<std::intptr_t> lengths, displs;
            std::vector<RecipePtr> types;
            for (int i = 0; i < (level == 1 ? members : 3); ++i) {
                lengths.push_back(static_cast<std::intptr_t>(rng.below(3)));
                displs.push_back(100000 * i);
                const bool is_list = rng.chance(20);
                types.push_back(rng.chance(5) ? inner : leaf(kinds[rng.below(std::size(kinds))]));
                if (is_list) types.back() = indexed({0, 2, 1}, {0, 7, 3}, types.back());
            }
            inner = structure(lengths, displs, types);
        }
        for (const RecipePtr &recipe : {inner, vector(3, 2, 5, leaf(UCD_TYPE__SHORT_INT))})
            check_boundaries(one, listed(make_subject(one, recipe, 2)));
    }
}

TEST_CASE("elements of a type are counted by its predefined types, not by where they lie") {
    std::uintptr_t elements = 0;
    const std::int32_t indices[] = {4, 0};
    ucd_type_t made = UCD_TYPE__NULL;
    REQUIRE(ucd_create_indexed_block_ref(2, 3, indices, UCD_TYPE__INT32_T, 1, 0, 99,
                                         UCD_TYPE__SHORT_INT, UCD_INFO__NULL,
                                         &made) == UCD_SUCCESS);
    const BuiltType by_reference(made);
    CHECK(ucd_get_elements(2, made, 6 * 7 + 3, &elements) == UCD_SUCCESS);
    CHECK(elements == 15);
    const std::uintptr_t many = std::uintptr_t{1} << 59;
    CHECK(ucd_get_elements(many, UCD_TYPE__2INT, 8 * (many - 1) + 5, &elements) == UCD_SUCCESS);
    CHECK(elements == 2 * many - 1);
}

TEST_CASE("elements that this machine has no type for") {
    FlatNodes nodes;
    const bool is_x87 = sizeof(long double) == 16 && std::numeric_limits<long double>::digits == 64;
    // The other representation of 16 bytes, then a byte, then it again.
    const auto absent = nodes.element(is_x87 ? 7 : 9, 16, 4);
    const auto byte = nodes.byte();
    nodes.structure(3, 1, {absent, byte, absent}, {16, 16});
    FlatNodes::Root root;
    root.extent = 48;
    root.alignment_log = 4;
    const FlatBytes bytes = nodes.sealed(root);
    ucd_type_t made = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&made, bytes.data(), bytes.size());
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    const BuiltType type(made);
    std::uintptr_t listed = 0, total = 0, boundary = 0;
    ucd_element_run_t runs[5];
    REQUIRE(ucd_get_element_runs(2, made, 0, runs, 5, &listed, &total) == UCD_SUCCESS);
    REQUIRE(listed == 5);
    CHECK(same(runs[0], {UCD_TYPE__NULL, 16, 1, 0}));
    CHECK(same(runs[1], {UCD_TYPE__BYTE, 1, 1, 16}));
    CHECK(same(runs[2], {UCD_TYPE__NULL, 16, 2, 17}));
    CHECK(ucd_element_boundary(2, made, 60, &boundary) == UCD_SUCCESS);
    CHECK(boundary == 50);
    CHECK(ucd_get_elements(2, made, 64, &listed) == UCD_SUCCESS);
    CHECK(listed == 5);
}

TEST_CASE("what the first bytes of a flattened type say") {
    FlatNodes nodes;
    nodes.byte();
    FlatNodes::Root root;
    root.extent = 1;
    const FlatBytes good = nodes.sealed(root);
    // Reads no byte beyond the 16, even if more are said to be there.
    const std::vector<std::uint8_t> head(good.begin(), good.begin() + 16);
    std::uintptr_t size = untouched;
    CHECK(ucd_flattened_size(head.data(), 16, &size) == UCD_SUCCESS);
    CHECK(size == good.size());
    CHECK(ucd_flattened_size(head.data(), SIZE_MAX, &size) == UCD_SUCCESS);
    for (std::size_t n = 0; n < 16; ++n) {
        size = untouched;
        CHECK(ucd_flattened_size(n == 0 ? nullptr : head.data(), n, &size) == UCD_ERR__TRUNCATED);
        CHECK(size == untouched);
    }
    for (std::size_t at = 0; at < 4; ++at) {
        auto bad = head;
        bad[at] ^= 1;
        CHECK(ucd_flattened_size(bad.data(), 16, &size) == UCD_ERR__CORRUPT);
    }
    auto other = head;
    other[4] = 3;
    CHECK(ucd_flattened_size(other.data(), 16, &size) == UCD_ERR__NOT_SUPPORTED);
    other[4] = 0;
    CHECK(ucd_flattened_size(other.data(), 16, &size) == UCD_ERR__CORRUPT);
    auto few = head;
    few[8] = 23;
    CHECK(ucd_flattened_size(few.data(), 16, &size) == UCD_ERR__CORRUPT);
    // Unverified: any other number is passed on.
    auto many = head;
    many[15] = 0x12;
    CHECK(ucd_flattened_size(many.data(), 16, &size) == UCD_SUCCESS);
    CHECK(size == (std::uintptr_t{0x12} << 56) + good.size());
}

} // namespace elements_test
