// The period of a type's packed stream. The runs that are expected are written down by hand.

#include "preload/repetition.h"
#include "support/catch.hpp"

#include <utility>
#include <vector>

namespace repetition_test {

using ucd_mpi::find_repetition;
using ucd_mpi::Repetition;

namespace {

class Type {
public:
    Type() = default;
    Type(const Type &) = delete;
    Type &operator=(const Type &) = delete;
    ~Type() { ucd_free(&type); }

    ucd_type_t type = UCD_TYPE__NULL;
};

// Items of an int and so many doubles, one after the other, then as many ints as `ints_behind`.
struct Part {
    std::intptr_t items, doubles;
};
void build(const std::vector<Part> &parts, std::intptr_t ints_behind, Type &whole) {
    std::vector<ucd_type_t> types;
    std::vector<std::intptr_t> lengths, displs;
    std::intptr_t at = 0;
    for (const Part &part : parts) {
        const std::intptr_t of_item[] = {1, part.doubles}, in_item[] = {0, 8};
        const ucd_type_t members[] = {UCD_TYPE__INT, UCD_TYPE__DOUBLE};
        types.emplace_back();
        REQUIRE(ucd_create_struct(2, of_item, in_item, members, UCD_INFO__NULL, &types.back()) ==
                UCD_SUCCESS);
        lengths.push_back(part.items);
        displs.push_back(at);
        at += part.items * (8 + 8 * part.doubles);
    }
    if (ints_behind != 0) {
        types.emplace_back();
        REQUIRE(ucd_create_dup(UCD_TYPE__INT, UCD_INFO__NULL, &types.back()) == UCD_SUCCESS);
        lengths.push_back(ints_behind);
        displs.push_back(at);
    }
    REQUIRE(ucd_create_struct(static_cast<std::intptr_t>(types.size()), lengths.data(),
                              displs.data(), types.data(), UCD_INFO__NULL,
                              &whole.type) == UCD_SUCCESS);
    for (ucd_type_t &type : types) ucd_free(&type);
}

using Runs = std::vector<std::pair<ucd_type_t, std::uintptr_t>>;

void check(const std::vector<Part> &parts, std::intptr_t ints_behind, const Runs &runs,
           std::uintptr_t times) {
    Type whole;
    build(parts, ints_behind, whole);
    Repetition found;
    REQUIRE(find_repetition(whole.type, found));
    Runs found_runs;
    for (const ucd_element_run_t &run : found.runs)
        found_runs.emplace_back(run.element, run.elements);
    CHECK(found_runs == runs);
    CHECK(found.times == times);
}

void check_none(const std::vector<Part> &parts, std::intptr_t ints_behind) {
    Type whole;
    build(parts, ints_behind, whole);
    Repetition found;
    CHECK_FALSE(find_repetition(whole.type, found));
}

} // namespace

TEST_CASE("the shortest period of a stream is found") {
    const std::pair one_int{UCD_TYPE__INT, std::uintptr_t{1}};
    const std::pair one_double{UCD_TYPE__DOUBLE, std::uintptr_t{1}};
    const std::pair two_doubles{UCD_TYPE__DOUBLE, std::uintptr_t{2}};
    check({{1, 1}}, 0, {one_int, one_double}, 1);
    check({{5, 1}}, 0, {one_int, one_double}, 5);
    check({{1, 1}, {1, 2}}, 0, {one_int, one_double, one_int, two_doubles}, 1);
    check({{1, 1}}, 1, {one_int, one_double, one_int}, 1);
    check({{1, 1}, {1, 2}, {1, 1}, {1, 2}}, 0, {one_int, one_double, one_int, two_doubles}, 2);
    // More runs than are read at once.
    check({{700, 1}}, 0, {one_int, one_double}, 700);
    check({{3000, 2}}, 0, {one_int, two_doubles}, 3000);
}

TEST_CASE("a stream of one kind of element has a period of one run") {
    Type ints;
    REQUIRE(ucd_create_vector(10, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &ints.type) == UCD_SUCCESS);
    Repetition found;
    REQUIRE(find_repetition(ints.type, found));
    REQUIRE(found.runs.size() == 1);
    CHECK(found.runs[0].element == UCD_TYPE__INT);
    CHECK(found.runs[0].elements * found.times == 10);
}

TEST_CASE("a stream whose end is another one has no period") {
    check_none({{600, 1}, {600, 2}}, 0);
    check_none({{1500, 1}, {1, 2}}, 0);
    check_none({{1, 2}, {1500, 1}}, 0);
    // 2,201 runs, of which no part of an even length is a period.
    check_none({{1100, 1}}, 1);
}

TEST_CASE("a period of many runs is none") {
    std::vector<Part> parts;
    for (std::intptr_t i = 1; i <= 100; ++i) parts.push_back({1, i});
    Type whole;
    build(parts, 0, whole);
    Repetition found;
    REQUIRE(find_repetition(whole.type, found));
    CHECK((found.runs.size() == 200 && found.times == 1));
    for (std::intptr_t i = 101; i <= 600; ++i) parts.push_back({1, i});
    check_none(parts, 0);
}

} // namespace repetition_test
