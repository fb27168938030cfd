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

namespace {

bool same(const ucd_element_run_t &a, const ucd_element_run_t &b) {
    return a.element == b.element && a.element_bytes == b.element_bytes &&
           a.elements == b.elements && a.offset == b.offset;
}

using Names = std::function<ucd_type_t(const Predefined &)>;

std::vector<ucd_element_run_t> runs_of(const std::vector<StreamElement> &elements,
                                       const Names &name) {
    std::vector<ucd_element_run_t> runs;
    for (const StreamElement &e : elements) {
        const ucd_type_t handle = name(*e.type);
        if (runs.empty() || runs.back().element != handle)
            runs.push_back({handle, e.type->size, 0, e.offset});
        ++runs.back().elements;
    }
    return runs;
}

ucd_type_t own_handle(const Predefined &type) {
    return type.handle;
}

// What a handle becomes by flattening: the fixed-width name of an integer.
ucd_type_t fixed_width(const Predefined &type) {
    if (type.type_class != TypeClass::integer) return type.handle;
    const std::string name = type.name;
    const bool is_unsigned = name[0] == 'U' || name == "SIZE_T";
    switch (type.size) {
    case 1: return is_unsigned ? UCD_TYPE__UINT8_T : UCD_TYPE__INT8_T;
    case 2: return is_unsigned ? UCD_TYPE__UINT16_T : UCD_TYPE__INT16_T;
    case 4: return is_unsigned ? UCD_TYPE__UINT32_T : UCD_TYPE__INT32_T;
    default: return is_unsigned ? UCD_TYPE__UINT64_T : UCD_TYPE__INT64_T;
    }
}

void check_chunk(Case &one, std::uintptr_t count, ucd_type_t type,
                 const std::vector<ucd_element_run_t> &all, std::size_t first, std::size_t room) {
    const ucd_element_run_t canary = {UCD_TYPE__BYTE, untouched, untouched, untouched};
    std::vector<ucd_element_run_t> some(room + 1, canary);
    std::uintptr_t listed = untouched, total = untouched;
    one.succeed(ucd_get_element_runs(count, type, first, room == 0 ? nullptr : some.data(), room,
                                     &listed, &total),
                "ucd_get_element_runs");
    const std::size_t expected = std::min(room, all.size() - first);
    if (listed != expected || total != all.size())
        one.fail("from ", first, ", room ", room, ": ", listed, " of ", total, ", expected ",
                 expected, " of ", all.size());
    for (std::size_t i = 0; i < some.size(); ++i)
        if (!same(some[i], i < expected ? all[first + i] : canary))
            one.fail("from ", first, ", room ", room, ": run ", i, " differs");
}

void check_runs(Case &one, std::uintptr_t count, ucd_type_t type,
                const std::vector<ucd_element_run_t> &all) {
    Rng &rng = one.rng();
    check_chunk(one, count, type, all, 0, all.size() + 1);
    const std::size_t chunk = 1 + rng.mostly_small(20);
    for (std::size_t first = 0; first <= all.size(); first += chunk)
        check_chunk(one, count, type, all, first, chunk);
    for (int i = 0; i < 4; ++i)
        check_chunk(one, count, type, all, rng.below(all.size() + 1), rng.mostly_small(8));
    std::uintptr_t listed = untouched, total = untouched;
    ucd_element_run_t run;
    if (ucd_get_element_runs(count, type, all.size() + 1, &run, 1, &listed, &total) !=
            UCD_ERR__INVALID_ARG ||
        listed != untouched || total != untouched)
        one.fail("a run beyond the last one");
}

BuiltType flattened_and_back(Case &one, ucd_type_t type) {
    std::uintptr_t size = 0, says = 0;
    one.succeed(ucd_flatten_size(type, &size), "ucd_flatten_size");
    FlatBytes bytes(size);
    one.succeed(ucd_flatten(type, bytes.data(), size), "ucd_flatten");
    one.succeed(ucd_flattened_size(bytes.data(), 16, &says), "ucd_flattened_size");
    if (says != size) one.fail("a flattened type of ", size, " bytes says ", says);
    ucd_type_t made = UCD_TYPE__NULL;
    one.succeed(ucd_unflatten(&made, bytes.data(), size), "ucd_unflatten");
    return BuiltType(made);
}

// A few types only, so that equal ones meet, and equal representations under other names.
RecipeOptions few_elements(Rng &rng) {
    RecipeOptions options;
    if (rng.chance(70))
        options.elements = {UCD_TYPE__LONG,      UCD_TYPE__INT64_T,         UCD_TYPE__INT,
                            UCD_TYPE__SHORT_INT, UCD_TYPE__LONG_DOUBLE_INT, UCD_TYPE__BYTE};
    if (rng.chance(30)) options.elements.resize(std::min<std::size_t>(options.elements.size(), 2));
    return options;
}

} // namespace

TEST_CASE("element runs of random types") {
    run_cases("element runs", 12000, [](Case &one) {
        const Subject subject = random_subject(one, few_elements(one.rng()));
        const auto elements = stream_elements(*subject.map, subject.count);
        check_runs(one, subject.count, subject.type(), runs_of(elements, own_handle));
        if (one.rng().chance(80)) return;
        const BuiltType again = flattened_and_back(one, subject.type());
        check_runs(one, subject.count, again.get(), runs_of(elements, fixed_width));
    });
}

TEST_CASE("element boundaries of random types") {
    run_cases("element boundaries", 3000, [](Case &one) {
        const Subject subject = random_subject(one, few_elements(one.rng()));
        const auto elements = stream_elements(*subject.map, subject.count);
        std::size_t next = 0;
        for (std::size_t offset = 0; offset <= subject.size(); ++offset) {
            while (next < elements.size() && elements[next].offset <= offset) ++next;
            const std::size_t expected =
                offset == subject.size() ? offset : elements[next - 1].offset;
            if (offset > 300 && offset % 7 != 0 && offset + 30 < subject.size()) continue;
            std::uintptr_t boundary = untouched;
            one.succeed(ucd_element_boundary(subject.count, subject.type(), offset, &boundary),
                        "ucd_element_boundary");
            if (boundary != expected)
                one.fail("boundary of ", offset, " is ", boundary, ", not ", expected);
        }
        std::uintptr_t boundary = untouched;
        if (ucd_element_boundary(subject.count, subject.type(), subject.size() + 1, &boundary) !=
                UCD_ERR__INVALID_ARG ||
            boundary != untouched)
            one.fail("a boundary beyond the end");
    });
}

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
