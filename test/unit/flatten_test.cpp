// The flattened form: what is written, and what is made of bytes that nobody vouches for.
#include "support/catch.hpp"

#include "flatten/format.h"
#include "support/moves/exercise.hpp"
#include "support/moves/flat_bytes.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"
#include "unit/deep.hpp"
#include "unit/disguise.hpp"
#include "unit/normal_form.hpp"

#include <cfloat>
#include <string>

namespace flatten_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

FlatBytes flat(ucd_type_t type) {
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(type, &size) == UCD_SUCCESS);
    FlatBytes bytes(size);
    REQUIRE(ucd_flatten(type, bytes.data(), size) == UCD_SUCCESS);
    return bytes;
}
FlatBytes flat(const RecipePtr &recipe) {
    return flat(BuiltType(recipe).get());
}

BuiltType made_from(const FlatBytes &bytes) {
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&type, bytes.data(), bytes.size());
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    return BuiltType(type);
}

RecipePtr subarray_of_doubles() {
    return subarray({1000, 2000, 3000}, {10, 20, 30}, {1, 2, 3}, UCD_ORDER__C,
                    leaf(UCD_TYPE__DOUBLE));
}

// Steps of 1 to 100 doubles.
Ints irregular(std::size_t count) {
    Rng rng(7);
    Ints displs(count);
    std::intptr_t at = 0;
    for (std::intptr_t &d : displs) d = at += rng.between(1, 100);
    return displs;
}

std::uintptr_t size_of(ucd_type_t type) {
    std::uintptr_t size = 0;
    REQUIRE(ucd_get_size(type, &size) == UCD_SUCCESS);
    return size;
}

} // namespace

TEST_CASE("A type is written in the first version that has its elements") {
    const auto version_of = [](const RecipePtr &recipe) {
        return flat(BuiltType(recipe).get())[4];
    };
    for (const RecipePtr &small : {leaf(UCD_TYPE__FLOAT8_E4M3), leaf(UCD_TYPE__FLOAT8_E5M2)}) {
        CHECK(version_of(dup(small)) == 2);
        CHECK(version_of(structure({1, 1}, {0, 8}, {leaf(UCD_TYPE__DOUBLE), small})) == 2);
        CHECK(version_of(vector(3, 2, 4, contig(3, small))) == 2);
        CHECK(version_of(contig(0, small)) == 1);
    }
    for (std::uintptr_t value = 1; value <= 60; ++value)
        CHECK(flat(reinterpret_cast<ucd_type_t>(value))[4] == 1);
}

TEST_CASE("Flattened types are small") {
    CHECK(flat(subarray_of_doubles()).size() <= 128);
    CHECK(flat(subarray({1L << 20, 1L << 20, 1L << 19}, {9, 9, 9}, {1, 2, 3}, UCD_ORDER__FORTRAN,
                        leaf(UCD_TYPE__DOUBLE)))
              .size() <= 128);
    Ints progression(100000), grid;
    for (std::size_t i = 0; i < progression.size(); ++i)
        progression[i] = 5 + 3 * static_cast<std::intptr_t>(i);
    for (std::intptr_t z = 0; z < 30; ++z)
        for (std::intptr_t y = 0; y < 20; ++y)
            for (std::intptr_t x = 0; x < 10; ++x) grid.push_back(z * 100000 + y * 1000 + x * 2);
    CHECK(flat(indexed_block(2, progression, leaf(UCD_TYPE__DOUBLE))).size() <= 128);
    CHECK(flat(indexed(Ints(progression.size(), 2), progression, leaf(UCD_TYPE__DOUBLE))).size() <=
          128);
    CHECK(flat(indexed_block(1, grid, leaf(UCD_TYPE__DOUBLE))).size() <= 128);

    const std::size_t n = 10000;
    const Ints displs = irregular(n);
    Ints far = displs, lengths(n);
    for (std::intptr_t &d : far) d *= 200;
    for (std::size_t i = 0; i < n; ++i) lengths[i] = 1 + static_cast<std::intptr_t>(i % 200);
    // The largest step is of 100 doubles: one byte each. Beyond 127, two.
    CHECK(flat(indexed_block(1, displs, leaf(UCD_TYPE__DOUBLE))).size() <= n + 128);
    for (std::size_t i = 0; i < n; ++i) far[i] += static_cast<std::intptr_t>(i % 3);
    CHECK(flat(indexed_block(1, far, leaf(UCD_TYPE__DOUBLE))).size() <= 2 * n + 128);
    CHECK(flat(indexed(lengths, far, leaf(UCD_TYPE__DOUBLE))).size() <= 3 * n + 128);

    // What is said twice is written once, whoever made it.
    const auto list = [&] { return indexed_block(1, displs, leaf(UCD_TYPE__DOUBLE)); };
    CHECK(flat(structure({1, 2, 1}, {0, 1 << 23, 1 << 26},
                         {list(), resized(dup(list()), 0, 1 << 24), list()}))
              .size() <= n + 256);
    // Runs of one length that continue each other are one run.
    const RecipePtr sparse = resized(leaf(UCD_TYPE__INT), 0, 8);
    CHECK(flat(indexed({2, 2, 2}, {0, 2, 4}, sparse)) == flat(contig(6, sparse)));
    // Constructors that change no layout leave nothing behind.
    CHECK(flat(dup(contig(1, resized(structure({1}, {0}, {leaf(UCD_TYPE__INT)}), 0, 4)))).size() <=
          40);
}

TEST_CASE("The reader's layout is the writer's") {
    const auto compare = [](Case &one, const RecipePtr &recipe) {
        one.about("type", recipe);
        const BuiltType original(recipe);
        const BuiltType copy = made_from(flat(original.get()));
        const std::string wanted = form_of(original.get()), found = form_of(copy.get());
        if (wanted != found)
            one.fail("two normal forms:\n  ", shortened(wanted), "\n  ", shortened(found));
        if (flat(copy.get()) != flat(original.get())) one.fail("it flattens to other bytes");
    };
    run_cases("flat layouts", 3000, [&](Case &one) {
        RecipeOptions options;
        options.max_bytes = one.rng().chance(10) ? 100000 : 4096;
        options.max_span = 1 << 22;
        compare(one, random_type(one.rng(), options).recipe);
    });
    run_cases("flat layouts in disguise", 2000, [&](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(4));
        options.max_entries = one.rng().chance(10) ? 2000 : 12;
        options.max_blocks = 20000;
        compare(one, disguised(one.rng(), *random_shape(one.rng(), options), {}));
    });
}

// Lists of progressions are strides only where these become the same layout. One of more than 1024
// blocks is not normalised from the list of its blocks.
TEST_CASE("The reader's layout of a grid is the writer's, whatever lies at its points") {
    const RecipePtr list = indexed_block(1, irregular(200), leaf(UCD_TYPE__INT16_T)),
                    gaps = leaf(UCD_TYPE__DOUBLE_INT),
                    row = hvector(300, 1, 8, leaf(UCD_TYPE__INT));
    const std::intptr_t end_of_row = 299 * 8 + 4;
    for (const auto &[child, step] :
         {std::pair{list, std::intptr_t{100000}}, std::pair{gaps, std::intptr_t{24}},
          std::pair{row, std::intptr_t{100000}}, std::pair{row, end_of_row}}) {
        Ints displs;
        for (std::intptr_t z = 0; z < 4; ++z)
            for (std::intptr_t y = 0; y < 5; ++y)
                for (std::intptr_t x = 0; x < 3; ++x)
                    displs.push_back(z * 60 * step + y * 8 * step + x * step);
        const BuiltType original(hindexed_block(1, displs, child));
        const BuiltType copy = made_from(flat(original.get()));
        INFO("steps of " << step);
        CHECK(form_of(copy.get()) == form_of(original.get()));
        CHECK(flat(copy.get()) == flat(original.get()));
    }
}

TEST_CASE("Numbers take the fewest bytes that hold them") {
    const auto bytes_of_lengths = [](std::intptr_t longest) {
        const std::intptr_t a[] = {1, longest, 2}, b[] = {1, 3, 2};
        const auto bytes = [](const std::intptr_t *l) {
            return flat(hindexed({l[0], l[1], l[2]},
                                 {0, std::intptr_t{1} << 40, std::intptr_t{3} << 40},
                                 leaf(UCD_TYPE__BYTE)))
                .size();
        };
        return bytes(a) - bytes(b) + 3;
    };
    CHECK(bytes_of_lengths(255) == 3);
    CHECK(bytes_of_lengths(256) == 6);
    CHECK(bytes_of_lengths(65535) == 6);
    CHECK(bytes_of_lengths(65536) == 12);
    CHECK(bytes_of_lengths(4294967295) == 12);
    CHECK(bytes_of_lengths(4294967296) == 24);
}

TEST_CASE("A representation that the machine lacks moves, and that is all") {
    const bool has_binary128 = LDBL_MANT_DIG == 113;
    FlatNodes nodes;
    nodes.nest({3, 32}, has_binary128 ? nodes.element(9, 16, 4) : nodes.element(7, 16, 4));
    FlatNodes::Root root;
    root.extent = 80;
    root.alignment_log = 4;
    const BuiltType type = made_from(nodes.sealed(root));
    CHECK(size_of(type.get()) == 48);
    unsigned char from[80], packed[48], to[80] = {};
    for (std::size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<unsigned char>(i + 1);
    std::uintptr_t moved = 0;
    REQUIRE(ucd_pack(from, 1, type.get(), 0, packed, sizeof packed, &moved, UCD_INFO__NULL,
                     UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(moved == 48);
    unpack_now(packed, moved, to, 1, type.get(), 0);
    for (std::size_t i = 0; i < sizeof to; ++i) CHECK(to[i] == (i / 16 % 2 == 0 ? from[i] : 0));
    CHECK(ucd_pack(from, 1, type.get(), 0, packed, sizeof packed, &moved, UCD_INFO__NULL,
                   UCD_OP__SUM) == UCD_ERR__NOT_SUPPORTED);
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    REQUIRE(ucd_get_layout(1, type.get(), &layout) == UCD_SUCCESS);
    CHECK(layout.element == UCD_TYPE__NULL);
    exercise(type.get());
}

// As a writer has them whose double is aligned to 4 bytes.
TEST_CASE("The alignment is the writer's, too") {
    FlatNodes nodes;
    nodes.element(7, 8, 2);
    FlatNodes::Root root;
    root.extent = 8;
    root.alignment_log = 2;
    const BuiltType type = made_from(nodes.sealed(root));
    const ucd_type_t types[] = {UCD_TYPE__CHAR, type.get()};
    const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 4};
    ucd_type_t pair = UCD_TYPE__NULL;
    REQUIRE(ucd_create_struct(2, lengths, displs, types, UCD_INFO__NULL, &pair) == UCD_SUCCESS);
    const BuiltType owner(pair);
    std::intptr_t lb = -1, extent = -1;
    CHECK(ucd_get_extent(pair, &lb, &extent) == UCD_SUCCESS);
    CHECK(lb == 0);
    CHECK(extent == 12);
    double value = 1, sum = 2;
    pack_now(&value, 1, type.get(), 0, &sum, 8, UCD_INFO__NULL, UCD_OP__SUM);
    CHECK(sum == 3);
}

TEST_CASE("Many levels flatten and come back") {
    const auto check = [](ucd_type_t top, std::size_t max_bytes) {
        const BuiltType original(top);
        const FlatBytes bytes = flat(top);
        CHECK(bytes.size() <= max_bytes);
        const BuiltType copy = made_from(bytes);
        const std::uintptr_t size = size_of(top);
        REQUIRE(size_of(copy.get()) == size);
        std::vector<char> memory(16 * size, 'x'), packed(size);
        CHECK(pack_now(memory.data(), 1, copy.get(), 0, packed.data(), size) == size);
        CHECK(packed == std::vector<char>(size, 'x'));
    };
    const auto built = [](std::intptr_t levels, const auto &level) {
        ucd_type_t top = UCD_TYPE__INT;
        for (std::intptr_t i = 0; i < levels; ++i) {
            const BuiltType below(top == UCD_TYPE__INT ? UCD_TYPE__NULL : top);
            if (level(i, below.get() == UCD_TYPE__NULL ? UCD_TYPE__INT : below.get(), &top) !=
                UCD_SUCCESS)
                FAIL(ucd_last_error());
        }
        return top;
    };
    const std::intptr_t one = 1, zero = 0;
    SECTION("that change nothing") {
        on_small_stack([&](std::intptr_t levels) {
            check(built(levels,
                        [&](std::intptr_t i, ucd_type_t t, ucd_type_t *next) {
                            return i % 3 == 0 ? ucd_create_dup(t, UCD_INFO__NULL, next)
                                   : i % 3 == 1
                                       ? ucd_create_resized(t, -i, 3 * i, UCD_INFO__NULL, next)
                                       : ucd_create_struct(1, &one, &zero, &t, UCD_INFO__NULL,
                                                           next);
                        }),
                  64);
        });
    }
    SECTION("of one more byte each") {
        on_small_stack([&](std::intptr_t levels) {
            check(built(levels,
                        [](std::intptr_t i, ucd_type_t t, ucd_type_t *next) {
                            const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 5 + 2 * i};
                            const ucd_type_t types[] = {t, UCD_TYPE__BYTE};
                            return ucd_create_struct(2, lengths, displs, types, UCD_INFO__NULL,
                                                     next);
                        }),
                  static_cast<std::size_t>(20 * levels));
        });
    }
}

TEST_CASE("Every representation has a class and a width of its own") {
    for (unsigned e = 1; e < static_cast<unsigned>(ucd::Element::count_); ++e) {
        const auto element = static_cast<ucd::Element>(e);
        const ucd::flat::Representation r = ucd::flat::representation_of(element);
        CHECK(r.element == element);
        CHECK(r.bytes == ucd::packed_size(element));
        CHECK(ucd::flat::representation_with(r.element_class, r.bytes).element == element);
    }
}

} // namespace flatten_test
