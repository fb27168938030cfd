// Very many constructors on top of each other: built, asked, moved, described, flattened and freed,
// in time that grows with their number, and on a small stack.
#include "support/catch.hpp"
#include "support/moves/move_now.hpp"

#include "unit/deep.hpp"

#include <ucd.h>

#include <cstring>
#include <functional>
#include <vector>

namespace depth_test {

using ucdtest::on_small_stack;

namespace {

const ucd_type_t int_ = UCD_TYPE__INT;
constexpr ucd_op_t replace = UCD_OP__REPLACE;

// The constructor of one level, counted from 1.
using Level = std::function<int(std::intptr_t level, ucd_type_t inner, ucd_type_t *outer)>;

ucd_type_t build(std::intptr_t levels, const Level &level) {
    ucd_type_t type = UCD_TYPE__NULL;
    int failures = ucd_create_contig(1, int_, nullptr, &type) != UCD_SUCCESS;
    for (std::intptr_t i = 1; i <= levels; ++i) {
        ucd_type_t inner = type;
        failures += level(i, inner, &type) != UCD_SUCCESS;
        failures += ucd_free(&inner) != UCD_SUCCESS;
    }
    REQUIRE(failures == 0);
    return type;
}

// Where the ints of the stream are to lie: all of them, or so the test says.
struct Stream {
    std::uintptr_t ints = 1;
    std::function<std::intptr_t(std::uintptr_t)> displ; // of int number i
};

void check_stream(ucd_type_t type, const Stream &stream) {
    std::uintptr_t size = 0;
    REQUIRE(ucd_get_size(type, &size) == UCD_SUCCESS);
    REQUIRE(size == 4 * stream.ints);
    std::intptr_t lb = 0, extent = 0;
    REQUIRE(ucd_get_true_extent(type, &lb, &extent) == UCD_SUCCESS);
    std::vector<int> memory(static_cast<std::size_t>(extent) / 4, -1);
    char *const buffer = reinterpret_cast<char *>(memory.data()) - lb;
    for (std::uintptr_t i = 0; i < stream.ints; ++i)
        memory[static_cast<std::size_t>(stream.displ(i) - lb) / 4] = static_cast<int>(i);
    // The last ones alone, then all.
    const std::uintptr_t tail = stream.ints < 16 ? stream.ints : 16;
    std::vector<int> packed(stream.ints);
    REQUIRE(ucdtest::pack_now(buffer, 1, type, size - 4 * tail, packed.data(), size, nullptr,
                              replace) == 4 * tail);
    bool right = true;
    for (std::uintptr_t i = 0; i < tail; ++i)
        right = right && packed[i] == static_cast<int>(stream.ints - tail + i);
    CHECK(right);
    REQUIRE(ucdtest::pack_now(buffer, 1, type, 0, packed.data(), size, nullptr, replace) == size);
    for (std::uintptr_t i = 0; i < stream.ints; ++i)
        right = right && packed[i] == static_cast<int>(i);
    CHECK(right);
    ucdtest::pack_now(buffer, 1, type, 0, packed.data(), size, nullptr, UCD_OP__SUM);
    for (std::uintptr_t i = 0; i < stream.ints; ++i)
        right = right && packed[i] == 2 * static_cast<int>(i);
    CHECK(right);
    std::uintptr_t segments = 0, number = 0;
    REQUIRE(ucd_iov_len(1, type, &segments) == UCD_SUCCESS);
    iovec last = {};
    REQUIRE(ucd_iov(nullptr, 1, type, segments - 1, &last, 1, &number) == UCD_SUCCESS);
    REQUIRE(number == 1);
    CHECK(reinterpret_cast<std::intptr_t>(last.iov_base) +
              static_cast<std::intptr_t>(last.iov_len) ==
          stream.displ(stream.ints - 1) + 4);
    std::uintptr_t total = 0;
    ucd_box_t box{};
    REQUIRE(ucd_get_boxes(1, type, 0, nullptr, 0, &number, &total) == UCD_SUCCESS);
    REQUIRE(ucd_get_boxes(1, type, total - 1, &box, 1, &number, &total) == UCD_SUCCESS);
    REQUIRE(number == 1);
    CHECK(box.start == stream.displ(box.offset / 4));
    ucd_element_run_t run{};
    REQUIRE(ucd_get_element_runs(2, type, 0, &run, 1, &number, &total) == UCD_SUCCESS);
    CHECK((total == 1 && run.elements == 2 * stream.ints));
}

void check_words(ucd_type_t type) {
    std::uintptr_t needed = 0;
    REQUIRE(ucd_describe(type, nullptr, 0, &needed) == UCD_SUCCESS);
    CHECK(needed < 100000); // cut short
    std::vector<char> text(needed);
    REQUIRE(ucd_describe(type, text.data(), needed, &needed) == UCD_SUCCESS);
    CHECK(std::strlen(text.data()) + 1 == needed);
}

void check_flat(ucd_type_t type, const Stream &stream) {
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(type, &size) == UCD_SUCCESS);
    std::vector<unsigned char> bytes(size), again(size);
    REQUIRE(ucd_flatten(type, bytes.data(), size) == UCD_SUCCESS);
    ucd_type_t copy = UCD_TYPE__NULL;
    REQUIRE(ucd_unflatten(&copy, bytes.data(), size) == UCD_SUCCESS);
    check_stream(copy, stream);
    REQUIRE(ucd_free(&copy) == UCD_SUCCESS);
}

using StreamOf = std::function<Stream(std::intptr_t levels)>;

void check(const char *name, const StreamOf &stream_of, const Level &level) {
    INFO(name);
    on_small_stack([&](std::intptr_t levels) {
        const Stream stream = stream_of(levels);
        ucd_type_t type = build(levels, level);
        check_stream(type, stream);
        check_words(type);
        check_flat(type, stream);
        REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    });
}

// One int, which each level displaces by so much.
StreamOf moved_by(std::intptr_t each) {
    return [=](std::intptr_t levels) -> Stream {
        return {1, [=](std::uintptr_t) { return each * levels; }};
    };
}

// An int more for so many levels, and how far they are apart.
StreamOf ints(std::intptr_t levels_each, std::intptr_t apart) {
    return [=](std::intptr_t levels) -> Stream {
        return {static_cast<std::uintptr_t>(levels / levels_each + 1),
                [=](std::uintptr_t i) { return apart * static_cast<std::intptr_t>(i); }};
    };
}

int pair_of(ucd_type_t first, std::intptr_t first_at, ucd_type_t second, std::intptr_t second_at,
            ucd_type_t *type) {
    const ucd_type_t types[] = {first, second};
    const std::intptr_t ones[] = {1, 1}, displs[] = {first_at, second_at};
    return ucd_create_struct(2, ones, displs, types, nullptr, type);
}

const std::intptr_t one = 1, zero = 0, four = 4, minus_four = -4;

} // namespace

TEST_CASE("Many levels of contig, dup, resized, vector and hvector") {
    check("contig", moved_by(0),
          [](auto, ucd_type_t t, ucd_type_t *n) { return ucd_create_contig(1, t, nullptr, n); });
    check("dup", moved_by(0),
          [](auto, ucd_type_t t, ucd_type_t *n) { return ucd_create_dup(t, nullptr, n); });
    check("resized", moved_by(0), [](auto i, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_resized(t, -i, 2 * i, nullptr, n);
    });
    check("vector", moved_by(0), [](auto i, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_vector(1, 1, i, t, nullptr, n);
    });
    check("hvector", moved_by(0), [](auto i, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_hvector(1, 1, -i, t, nullptr, n);
    });
}

TEST_CASE("Many levels of the indexed constructors") {
    check("hindexed_block", moved_by(4), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_hindexed_block(1, 1, &four, t, nullptr, n);
    });
    check("indexed_block", moved_by(4), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_indexed_block(1, 1, &one, t, nullptr, n);
    });
    check("hindexed", moved_by(-4), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_hindexed(1, &one, &minus_four, t, nullptr, n);
    });
    check("indexed", moved_by(4), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_indexed(1, &one, &one, t, nullptr, n);
    });
}

TEST_CASE("Many levels of arrays") {
    check("subarray", moved_by(0), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_subarray(1, &one, &one, &zero, UCD_ORDER__C, t, nullptr, n);
    });
    check("ndarray", moved_by(0), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_ndarray(1, &one, &four, t, nullptr, n);
    });
    check("darray", moved_by(0), [](auto, ucd_type_t t, ucd_type_t *n) {
        const int block = UCD_DISTRIBUTE__BLOCK, processes = 1;
        return ucd_create_darray(1, 0, 1, &one, &block, &one, &processes, UCD_ORDER__C, t, nullptr,
                                 n);
    });
}

TEST_CASE("Many levels of structs") {
    check("struct of one", moved_by(4), [](auto, ucd_type_t t, ucd_type_t *n) {
        return ucd_create_struct(1, &one, &four, &t, nullptr, n);
    });
    const StreamOf apart = ints(1, 8), together = ints(1, 4);
    check("struct of what was and an int", apart,
          [](auto i, ucd_type_t t, ucd_type_t *n) { return pair_of(t, 0, int_, 8 * i, n); });
    check("struct of an int and what was", apart,
          [](auto, ucd_type_t t, ucd_type_t *n) { return pair_of(int_, 0, t, 8, n); });
    check("struct of what was and an int that touches", together,
          [](auto i, ucd_type_t t, ucd_type_t *n) { return pair_of(t, 0, int_, 4 * i, n); });
    check("struct of an int and what was, which touches", together,
          [](auto, ucd_type_t t, ucd_type_t *n) { return pair_of(int_, 0, t, 4, n); });
}

TEST_CASE("Many levels of structs without a pattern") {
    // Displacements that no stride describes.
    const auto displ = [](std::intptr_t i) { return 16 * i + i * i % 257 % 3 * 4; };
    check(
        "irregular",
        [=](std::intptr_t levels) -> Stream {
            return {static_cast<std::uintptr_t>(levels + 1),
                    [=](std::uintptr_t i) { return displ(static_cast<std::intptr_t>(i)); }};
        },
        [=](auto i, ucd_type_t t, ucd_type_t *n) { return pair_of(t, 0, int_, displ(i), n); });
}

TEST_CASE("Many levels of all kinds in turn") {
    check("struct, dup, contig, resized", ints(4, 8), [](auto i, ucd_type_t t, ucd_type_t *n) {
        switch (i % 4) {
        case 0: return pair_of(t, 0, int_, 2 * i, n);
        case 1: return ucd_create_dup(t, nullptr, n);
        case 2: return ucd_create_contig(1, t, nullptr, n);
        default: return ucd_create_resized(t, 0, 8, nullptr, n);
        }
    });
    check("displaced and taken back", moved_by(0), [](auto i, ucd_type_t t, ucd_type_t *n) {
        const std::intptr_t by = i % 2 == 1 ? 8 : -8;
        return i % 4 < 2 ? ucd_create_hindexed_block(1, 1, &by, t, nullptr, n)
                         : ucd_create_struct(1, &one, &by, &t, nullptr, n);
    });
}

} // namespace depth_test
