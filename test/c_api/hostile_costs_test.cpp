// These tests bound the memory that flattened bytes from anyone cost, by a count of what goes
// through operator new. hostile_work_test.py counts instructions.
#include "c_api/hostile_types.hpp"
#include "c_api/refusal.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace hostile_costs_test {

using namespace ucdtest;

namespace {

// For a type of so many flattened bytes, whose layout takes `as_described` without any expansion.
std::ptrdiff_t budget(std::size_t flattened, std::size_t as_described) {
    // Beside it: the objects that hold layout and plans, and what an allocator rounds up.
    constexpr std::size_t objects = 8192;
    return static_cast<std::ptrdiff_t>(std::max(64 * 1024 + 16 * flattened, as_described) +
                                       objects);
}

ucd_type_t made_from(const FlatBytes &bytes) {
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&type, bytes.data(), bytes.size());
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    return type;
}

// Makes all that is kept for later: the layout, plans for one and for several, elements.
void use(ucd_type_t type) {
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    REQUIRE(ucd_get_layout(1, type, &layout) == UCD_SUCCESS);
    ucd_advice_t advice{};
    advice.struct_size = sizeof advice;
    REQUIRE(ucd_get_advice(1, type, 0, 0, &advice) == UCD_SUCCESS);
    std::uintptr_t segments = 0, listed = 0, needed = 0;
    struct iovec iov[8];
    REQUIRE(ucd_iov_len(1, type, &segments) == UCD_SUCCESS);
    REQUIRE(ucd_iov(nullptr, 1, type, segments / 2, iov, 8, &listed) == UCD_SUCCESS);
    std::uintptr_t total = 0;
    ucd_box_t boxes[8];
    REQUIRE(ucd_get_boxes(1, type, 0, boxes, 8, &listed, &total) == UCD_SUCCESS);
    REQUIRE(ucd_get_boxes(1, type, total / 2, boxes, 8, &listed, &total) == UCD_SUCCESS);
    ucd_element_run_t runs[8];
    REQUIRE(ucd_get_element_runs(1, type, 0, runs, 8, &listed, &total) == UCD_SUCCESS);
    REQUIRE(ucd_get_element_runs(1, type, total / 2, runs, 8, &listed, &total) == UCD_SUCCESS);
    REQUIRE(ucd_element_boundary(1, type, layout.bytes / 2, &listed) == UCD_SUCCESS);
    REQUIRE(ucd_describe(type, nullptr, 0, &needed) == UCD_SUCCESS);
    CHECK(needed < 1000000);
    char data[8] = {};
    std::uintptr_t moved = 0;
    for (const std::uintptr_t count : {1, 2})
        for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
            const int rc = ucd_pack(nullptr, count, type, 0, data, 0, &moved, nullptr, op);
            const bool expected = rc == UCD_SUCCESS || rc == UCD_ERR__NOT_SUPPORTED ||
                                  rc == UCD_ERR__TRUNCATED || rc == UCD_ERR__OVERFLOW;
            CHECK(expected);
        }
}

// By its description.
double memory_told(ucd_type_t type) {
    std::uintptr_t needed = 0;
    REQUIRE(ucd_describe(type, nullptr, 0, &needed) == UCD_SUCCESS);
    std::string text(needed, '\0');
    REQUIRE(ucd_describe(type, text.data(), text.size(), &needed) == UCD_SUCCESS);
    const std::size_t at = text.find("\nmemory: ");
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + 9));
}

void make_layout(ucd_type_t type) {
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    CHECK(ucd_get_layout(1, type, &layout) == UCD_SUCCESS);
}

} // namespace

TEST_CASE("Layouts and plans of hostile types stay within their budget") {
    for (const HostileType &hostile : expanding_types()) {
        INFO(hostile.name << ", " << hostile.bytes.size() << " bytes");
        std::vector<ucd_type_t> types;
        const std::size_t copies = 10;
        for (std::size_t i = 0; i < copies; ++i) types.push_back(made_from(hostile.bytes));
        const std::ptrdiff_t before = live_bytes();
        reset_peak();
        for (ucd_type_t type : types) use(type);
        const std::ptrdiff_t held = live_bytes() - before,
                             most = budget(hostile.bytes.size(), hostile.as_described);
        INFO(held / static_cast<std::ptrdiff_t>(copies) << " bytes held of " << most);
        CHECK(held <= static_cast<std::ptrdiff_t>(copies) * most);
        // While one is prepared, what is soon folded takes more, but as little as many of them.
        CHECK(peak_bytes() - before - held <= 8 * most);
        for (ucd_type_t &type : types) CHECK(ucd_free(&type) == UCD_SUCCESS);
    }
}

TEST_CASE("What is built on hostile types stays within its budget") {
    for (const HostileType &hostile : expanding_types()) {
        INFO(hostile.name << ", " << hostile.bytes.size() << " bytes");
        ucd_type_t type = made_from(hostile.bytes), built = UCD_TYPE__NULL;
        const std::intptr_t displs[] = {0, 7, 1 << 20}, lengths[] = {1, 1, 1};
        const ucd_type_t members[] = {type, UCD_TYPE__BYTE, type};
        REQUIRE(ucd_create_struct(3, lengths, displs, members, nullptr, &built) == UCD_SUCCESS);
        std::uintptr_t flat = 0;
        REQUIRE(ucd_flatten_size(built, &flat) == UCD_SUCCESS);
        const std::ptrdiff_t before = live_bytes();
        use(built);
        CHECK(live_bytes() - before <= budget(flat, hostile.as_described));
        CHECK(ucd_free(&built) == UCD_SUCCESS);
        CHECK(ucd_free(&type) == UCD_SUCCESS);
    }
}

TEST_CASE("Elements are counted without a layout") {
    std::vector<HostileType> types = expanding_types();
    types.push_back({"deep", deep_type(20000)});
    for (const HostileType &hostile : types) {
        INFO(hostile.name);
        ucd_type_t type = made_from(hostile.bytes);
        std::uintptr_t size = 0, elements = 0;
        REQUIRE(ucd_get_size(type, &size) == UCD_SUCCESS);
        const std::ptrdiff_t before = live_bytes();
        reset_peak();
        for (const std::uintptr_t bytes : {std::uintptr_t{1}, size / 2, size - 1, size})
            CHECK(ucd_get_elements(1, type, bytes, &elements) == UCD_SUCCESS);
        CHECK(elements > 0);
        CHECK(peak_bytes() == before);
        CHECK(ucd_free(&type) == UCD_SUCCESS);
    }
}

TEST_CASE("A fragment of a deep type takes memory for the levels above it, not for all") {
    ucd_type_t type = made_from(deep_type(20000));
    make_layout(type);
    // The first byte lies one level down.
    std::uintptr_t listed = 0, bytes = 0;
    struct iovec entry;
    reset_peak();
    const std::ptrdiff_t before = live_bytes();
    REQUIRE(ucd_iov_bytes(nullptr, 1, type, 0, 1, &entry, 1, &listed, &bytes) == UCD_SUCCESS);
    CHECK(peak_bytes() - before < 4096);
    CHECK(ucd_free(&type) == UCD_SUCCESS);
}

TEST_CASE("Equal lists of many types take the memory of one when those are flattened") {
    constexpr std::size_t entries = 2000, members = 200;
    std::mt19937 random(8);
    std::vector<std::intptr_t> displs, places;
    for (std::size_t i = 0; i < entries; ++i)
        displs.push_back(static_cast<std::intptr_t>(100 * i + random() % 50));
    std::vector<ucd_type_t> lists(members);
    for (ucd_type_t &list : lists) {
        REQUIRE(ucd_create_hindexed_block(entries, 1, displs.data(), UCD_TYPE__INT, UCD_INFO__NULL,
                                          &list) == UCD_SUCCESS);
        places.push_back(static_cast<std::intptr_t>(1000000 * places.size() + random() % 50));
    }
    const std::vector<std::intptr_t> ones(members, 1);
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_struct(members, ones.data(), places.data(), lists.data(), UCD_INFO__NULL,
                              &type) == UCD_SUCCESS);
    std::uintptr_t bytes = 0;
    reset_peak();
    const std::ptrdiff_t before = live_bytes();
    REQUIRE(ucd_flatten_size(type, &bytes) == UCD_SUCCESS);
    CHECK(bytes < 4 * entries + 8 * members);
    CHECK(peak_bytes() - before < 150000);
    for (ucd_type_t &list : lists) CHECK(ucd_free(&list) == UCD_SUCCESS);
    CHECK(ucd_free(&type) == UCD_SUCCESS);
}

TEST_CASE("Flattening many levels without structs takes memory for the way down only") {
    constexpr std::ptrdiff_t levels = 20000;
    ucd_type_t type = UCD_TYPE__INT;
    for (std::ptrdiff_t i = 0; i < levels; ++i) {
        ucd_type_t inner = type;
        REQUIRE(ucd_create_resized(inner, 0, 8 + i, UCD_INFO__NULL, &type) == UCD_SUCCESS);
        if (i > 0) CHECK(ucd_free(&inner) == UCD_SUCCESS);
    }
    std::uintptr_t bytes = 0;
    reset_peak();
    const std::ptrdiff_t before = live_bytes();
    REQUIRE(ucd_flatten_size(type, &bytes) == UCD_SUCCESS);
    INFO(peak_bytes() - before << " bytes");
    CHECK(peak_bytes() - before < 50 * levels);
    CHECK(ucd_free(&type) == UCD_SUCCESS);
}

TEST_CASE("The memory that a description tells is what was allocated") {
    std::mt19937 random(7);
    std::vector<std::intptr_t> displs, lengths;
    for (std::intptr_t i = 0; i < 3000; ++i) {
        displs.push_back(100 * i + static_cast<std::intptr_t>(random() % 20));
        lengths.push_back(1 + static_cast<std::intptr_t>(random() % 9));
    }
    const auto n = displs.size();
    using Create = std::function<int(ucd_type_t *)>;
    const Create own_lengths = [&](ucd_type_t *type) {
        return ucd_create_hindexed(n, lengths.data(), displs.data(), UCD_TYPE__INT, UCD_INFO__NULL,
                                   type);
    };
    const Create blocks = [&](ucd_type_t *type) {
        return ucd_create_hindexed_block(n, 2, displs.data(), UCD_TYPE__SHORT, UCD_INFO__NULL,
                                         type);
    };
    // Several nests below a walk, and members that are used by nobody else.
    const Create members = [&](ucd_type_t *type) {
        ucd_type_t children[3] = {};
        int rc = own_lengths(&children[0]);
        if (rc == UCD_SUCCESS) rc = blocks(&children[1]);
        if (rc == UCD_SUCCESS)
            rc = ucd_create_hvector(50, 1, 24, UCD_TYPE__DOUBLE, UCD_INFO__NULL, &children[2]);
        const std::intptr_t counts[3] = {1, 1, 1}, places[3] = {0, 400000, 800000};
        if (rc == UCD_SUCCESS)
            rc = ucd_create_struct(3, counts, places, children, UCD_INFO__NULL, type);
        for (ucd_type_t &child : children)
            if (child != UCD_TYPE__NULL) CHECK(ucd_free(&child) == UCD_SUCCESS);
        return rc;
    };
    for (const Create &create : {own_lengths, blocks, members}) {
        const std::ptrdiff_t before = live_bytes();
        ucd_type_t type = UCD_TYPE__NULL;
        REQUIRE(create(&type) == UCD_SUCCESS);
        use(type);
        const auto allocated = static_cast<double>(live_bytes() - before);
        const double told = memory_told(type);
        INFO(told << " bytes are told, " << allocated << " are allocated");
        CHECK(told > 0.95 * allocated);
        CHECK(told < 1.05 * allocated);
        CHECK(ucd_free(&type) == UCD_SUCCESS);
    }
}

} // namespace hostile_costs_test
