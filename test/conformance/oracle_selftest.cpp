// The oracle against examples worked out by hand, many of them the standard's own. Needs no
// library.
#include "support/catch.hpp"

#include "support/oracle/byte_map.hpp"
#include "support/random/random_arrays.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <algorithm>
#include <string>

namespace oracle_selftest {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

struct WrittenBounds {
    std::size_t size;
    std::intptr_t lb, extent, true_lb, true_extent;
    friend bool operator==(const WrittenBounds &, const WrittenBounds &) = default;
};

std::string to_text(const WrittenBounds &bounds) {
    return "size " + std::to_string(bounds.size) + ", lb " + std::to_string(bounds.lb) +
           ", extent " + std::to_string(bounds.extent) + ", true lb " +
           std::to_string(bounds.true_lb) + ", true extent " + std::to_string(bounds.true_extent);
}

void require_bounds(const RecipePtr &recipe, const WrittenBounds &expected) {
    const TypeMap map = type_map(*recipe);
    const WrittenBounds found = {map.size, map.lb, map.extent, map.true_lb, map.true_extent};
    INFO(ucdtest::to_text(*recipe));
    INFO("found    " << to_text(found));
    INFO("expected " << to_text(expected));
    REQUIRE(found == expected);
}

Ints displs_of(const RecipePtr &recipe) {
    Ints displs;
    for (const Entry &entry : type_map(*recipe).entries) displs.push_back(entry.displ);
    return displs;
}

std::string names_of(const RecipePtr &recipe) {
    std::string names;
    for (const Entry &entry : type_map(*recipe).entries) {
        names += std::string(names.empty() ? "" : " ") + entry.type->name;
    }
    return names;
}

RecipePtr int_type() {
    return leaf(UCD_TYPE__INT);
}
RecipePtr char_type() {
    return leaf(UCD_TYPE__CHAR);
}
// {(double, 0), (char, 8)}: the type of the standard's examples in 5.1.2.
RecipePtr double_char() {
    return structure({1, 1}, {0, 8}, {leaf(UCD_TYPE__DOUBLE), char_type()});
}

} // namespace

TEST_CASE("oracle: predefined handles follow the ABI's order") {
    std::uintptr_t value = 0;
    for (const Predefined &type : all_predefined()) {
        REQUIRE(reinterpret_cast<std::uintptr_t>(type.handle) == ++value);
        REQUIRE(&predefined(type.handle) == &type);
    }
    REQUIRE(value == 62);
    REQUIRE(std::string(predefined(UCD_TYPE__2INT).name) == "2INT");
    REQUIRE(std::string(predefined(UCD_TYPE___BOOL).name) == "_BOOL");
}

TEST_CASE("oracle: a struct's extent is padded to its alignment") {
    require_bounds(double_char(), {9, 0, 16, 0, 9});
    require_bounds(contig(2, double_char()), {18, 0, 32, 0, 25});
    require_bounds(structure({1, 1}, {0, 5}, {int_type(), char_type()}), {5, 0, 8, 0, 6});
    // From lb, not from 0: 1 to 12 are 11 bytes, padded to 12.
    require_bounds(structure({1, 1}, {1, 8}, {char_type(), int_type()}), {5, 1, 12, 1, 11});
    require_bounds(hindexed_block(1, {3}, int_type()), {4, 3, 4, 3, 4});
}

TEST_CASE("oracle: the standard's examples of the constructors") {
    REQUIRE(displs_of(contig(3, double_char())) == Ints{0, 8, 16, 24, 32, 40});
    REQUIRE(displs_of(vector(2, 3, 4, double_char())) ==
            Ints{0, 8, 16, 24, 32, 40, 64, 72, 80, 88, 96, 104});
    REQUIRE(displs_of(vector(3, 1, -2, double_char())) == Ints{0, 8, -32, -24, -64, -56});
    REQUIRE(displs_of(indexed({3, 1}, {4, 0}, double_char())) ==
            Ints{64, 72, 80, 88, 96, 104, 0, 8});
    const RecipePtr mixed =
        structure({2, 1, 3}, {0, 16, 26}, {leaf(UCD_TYPE__FLOAT), double_char(), char_type()});
    REQUIRE(displs_of(mixed) == Ints{0, 4, 16, 24, 26, 27, 28});
    REQUIRE(names_of(mixed) == "FLOAT FLOAT DOUBLE CHAR CHAR CHAR CHAR");
}

TEST_CASE("oracle: displacements in extents and in bytes") {
    REQUIRE(displs_of(hvector(3, 2, 9, int_type())) == Ints{0, 4, 9, 13, 18, 22});
    REQUIRE(displs_of(indexed_block(2, {3, -1}, int_type())) == Ints{12, 16, -4, 0});
    REQUIRE(displs_of(hindexed_block(2, {3, -1}, int_type())) == Ints{3, 7, -1, 3});
    REQUIRE(displs_of(hindexed({1, 0, 2}, {5, 50, -9}, int_type())) == Ints{5, -9, -5});
    REQUIRE(displs_of(dup(int_type())) == Ints{0});
}

TEST_CASE("oracle: negative strides and negative extents") {
    REQUIRE(displs_of(vector(3, 2, -3, leaf(UCD_TYPE__SHORT))) == Ints{0, 2, -6, -4, -12, -10});
    require_bounds(vector(3, 2, -3, leaf(UCD_TYPE__SHORT)), {12, -12, 16, -12, 16});
    const RecipePtr backwards = contig(4, resized(char_type(), 0, -3));
    REQUIRE(displs_of(backwards) == Ints{0, -3, -6, -9});
    // lb markers at 0, -3, -6, -9 and ub markers at -3, -6, -9, -12.
    require_bounds(backwards, {4, -9, 6, -9, 10});
    // Two levels: the outer stride counts the inner extent, 16.
    const RecipePtr nested = vector(2, 1, -1, vector(3, 2, -3, leaf(UCD_TYPE__SHORT)));
    REQUIRE(displs_of(nested) == Ints{0, 2, -6, -4, -12, -10, -16, -14, -22, -20, -28, -26});
    require_bounds(nested, {24, -28, 32, -28, 32});
}

TEST_CASE("oracle: explicit bounds win, repeat with copies, and are replaced by new ones") {
    const RecipePtr wide = resized(int_type(), -4, 12);
    require_bounds(wide, {4, -4, 12, 0, 4});
    REQUIRE(displs_of(contig(3, wide)) == Ints{0, 12, 24});
    require_bounds(contig(3, wide), {12, -4, 36, 0, 28});
    // The double's own end plays no part, and nothing is padded to its alignment.
    require_bounds(structure({1, 1}, {100, 0}, {wide, leaf(UCD_TYPE__DOUBLE)}),
                   {12, 96, 12, 0, 104});
    require_bounds(resized(contig(3, wide), 0, 5), {12, 0, 5, 0, 28});
    require_bounds(dup(wide), {4, -4, 12, 0, 4});
    require_bounds(ndarray({2}, {7}, wide), {8, -4, 19, 0, 11});
}

TEST_CASE("oracle: empty types, with and without bounds") {
    require_bounds(contig(0, int_type()), {0, 0, 0, 0, 0});
    require_bounds(structure({}, {}, {}), {0, 0, 0, 0, 0});
    require_bounds(hindexed_block(3, {}, int_type()), {0, 0, 0, 0, 0});
    require_bounds(contig(5, contig(0, resized(int_type(), -4, 12))), {0, 0, 0, 0, 0});
    const RecipePtr hollow = resized(contig(0, int_type()), -8, 16);
    require_bounds(hollow, {0, -8, 16, 0, 0});
    require_bounds(contig(3, hollow), {0, -8, 48, 0, 0});
    require_bounds(structure({1, 1}, {100, 0}, {hollow, int_type()}), {4, 92, 16, 0, 4});
    require_bounds(structure({0, 1}, {100, 0}, {hollow, int_type()}), {4, 0, 4, 0, 4});
}

TEST_CASE("oracle: subarrays in both orders") {
    const RecipePtr c = subarray({4, 3, 2}, {2, 2, 1}, {1, 0, 1}, UCD_ORDER__C, int_type());
    REQUIRE(displs_of(c) == Ints{28, 36, 52, 60});
    require_bounds(c, {16, 0, 96, 28, 36});
    const RecipePtr f = subarray({4, 3, 2}, {2, 2, 1}, {1, 0, 1}, UCD_ORDER__FORTRAN, int_type());
    REQUIRE(displs_of(f) == Ints{52, 56, 68, 72});
    require_bounds(f, {16, 0, 96, 52, 24});
    // The old type's markers are not carried along: bounds start at 0.
    require_bounds(subarray({3}, {1}, {2}, UCD_ORDER__C, resized(int_type(), -4, 12)),
                   {4, 0, 36, 24, 4});
}

TEST_CASE("oracle: distributed arrays of one dimension") {
    const auto owned = [](int size, int rank, std::intptr_t gsize, int distrib,
                          std::intptr_t darg) {
        return displs_of(
            darray(size, rank, {gsize}, {distrib}, {darg}, {size}, UCD_ORDER__C, char_type()));
    };
    REQUIRE(owned(3, 0, 10, UCD_DISTRIBUTE__CYCLIC, 2) == Ints{0, 1, 6, 7});
    REQUIRE(owned(3, 1, 10, UCD_DISTRIBUTE__CYCLIC, 2) == Ints{2, 3, 8, 9});
    REQUIRE(owned(3, 2, 10, UCD_DISTRIBUTE__CYCLIC, 2) == Ints{4, 5});
    REQUIRE(owned(3, 1, 7, UCD_DISTRIBUTE__CYCLIC, UCD_DISTRIBUTE__DFLT_DARG) == Ints{1, 4});
    REQUIRE(owned(4, 1, 10, UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__DFLT_DARG) == Ints{3, 4, 5});
    REQUIRE(owned(4, 3, 10, UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__DFLT_DARG) == Ints{9});
    REQUIRE(owned(2, 1, 10, UCD_DISTRIBUTE__BLOCK, 7) == Ints{7, 8, 9});
    REQUIRE(owned(1, 0, 3, UCD_DISTRIBUTE__NONE, UCD_DISTRIBUTE__DFLT_DARG) == Ints{0, 1, 2});
    // A process that owns nothing still has the global array's bounds.
    const RecipePtr nothing = darray(4, 3, {9}, {UCD_DISTRIBUTE__BLOCK},
                                     {UCD_DISTRIBUTE__DFLT_DARG}, {4}, UCD_ORDER__C, int_type());
    require_bounds(nothing, {0, 0, 36, 0, 0});
}

TEST_CASE("oracle: distributed arrays of two dimensions, ranks row-major in both orders") {
    const auto owned = [](int rank, int order) {
        return displs_of(darray(4, rank, {4, 4}, {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__CYCLIC},
                                {UCD_DISTRIBUTE__DFLT_DARG, UCD_DISTRIBUTE__DFLT_DARG}, {2, 2},
                                order, char_type()));
    };
    // Rank 1 is (0, 1): rows 0 and 1, columns 1 and 3.
    REQUIRE(owned(1, UCD_ORDER__C) == Ints{1, 3, 5, 7});
    REQUIRE(owned(1, UCD_ORDER__FORTRAN) == Ints{4, 5, 12, 13});
    // Rank 2 is (1, 0): rows 2 and 3, columns 0 and 2.
    REQUIRE(owned(2, UCD_ORDER__C) == Ints{8, 10, 12, 14});
    REQUIRE(owned(2, UCD_ORDER__FORTRAN) == Ints{2, 3, 10, 11});
}

namespace {

// The standard's cyclic(), MPI-4.1 5.1.4, word for word, on lists of displacements.
Ints standard_cyclic(std::intptr_t darg, std::intptr_t gsize, std::intptr_t r, std::intptr_t psize,
                     const Ints &old, std::intptr_t old_extent) {
    const std::intptr_t nblocks = (gsize + (darg - 1)) / darg;
    std::intptr_t count = nblocks / psize;
    const std::intptr_t left_over = nblocks - count * psize;
    if (r < left_over) count = count + 1;
    const std::intptr_t num_in_last_cyclic = gsize % (psize * darg);
    std::intptr_t darg_last = num_in_last_cyclic - r * darg;
    if (darg_last > darg) darg_last = darg;
    if (darg_last <= 0) darg_last = darg;
    Ints displs;
    for (std::intptr_t block = 0; block < count; ++block) {
        const std::intptr_t length = block == count - 1 ? darg_last : darg;
        for (std::intptr_t i = 0; i < length; ++i) {
            const std::intptr_t at = (r * darg + block * psize * darg + i) * old_extent;
            for (const std::intptr_t displ : old) displs.push_back(displ + at);
        }
    }
    return displs;
}

// The standard's construction of a darray from cyclic()s.
Ints standard_darray(const Darray &node) {
    const std::size_t ndims = node.gsizes.size();
    Ints r(ndims);
    std::intptr_t t_rank = node.rank, t_size = 1;
    for (std::size_t i = 0; i < ndims; ++i) t_size *= node.psizes[i];
    for (std::size_t i = 0; i < ndims; ++i) {
        t_size = t_size / node.psizes[i];
        r[i] = t_rank / t_size;
        t_rank = t_rank % t_size;
    }
    Ints displs = displs_of(node.old);
    std::intptr_t extent = type_map(*node.old).extent;
    for (std::size_t k = 0; k < ndims; ++k) {
        const std::size_t i = node.order == UCD_ORDER__FORTRAN ? k : ndims - 1 - k;
        const std::intptr_t gsize = node.gsizes[i], psize = node.psizes[i];
        std::intptr_t darg = node.dargs[i];
        if (node.distribs[i] == UCD_DISTRIBUTE__NONE) {
            darg = gsize;
        } else if (darg == UCD_DISTRIBUTE__DFLT_DARG) {
            darg = node.distribs[i] == UCD_DISTRIBUTE__BLOCK ? (gsize + psize - 1) / psize : 1;
        }
        displs = standard_cyclic(darg, gsize, r[i], psize, displs, extent);
        extent *= gsize;
    }
    return displs;
}

} // namespace

TEST_CASE("oracle: distributed arrays are the standard's nested cyclic()s") {
    run_cases("oracle darray", 2000, [](Case &one) {
        Pool pool(one.rng().chance(50));
        const RecipePtr recipe =
            random_darray(one.rng(), pool, resized(double_char(), -3, 20), 400);
        if (!recipe) return;
        one.about("darray", recipe);
        if (displs_of(recipe) != standard_darray(std::get<Darray>(recipe->node))) {
            one.fail("not the standard's");
        }
    });
}

TEST_CASE("oracle: NumPy arrays") {
    REQUIRE(displs_of(ndarray({2, 3}, {-16, 4}, int_type())) == Ints{0, 4, 8, -16, -12, -8});
    REQUIRE(displs_of(ndarray({3}, {0}, int_type())) == Ints{0, 0, 0});
    REQUIRE(displs_of(ndarray({}, {}, int_type())) == Ints{0});
    REQUIRE(displs_of(ndarray({2, 0, 2}, {1, 2, 3}, int_type())).empty());
    require_bounds(ndarray({2, 3}, {-16, 4}, int_type()), {24, -16, 28, -16, 28});
    require_bounds(ndarray({2}, {5}, int_type()), {8, 0, 12, 0, 9});
}

TEST_CASE("oracle: pair types are packed without padding") {
    require_bounds(leaf(UCD_TYPE__SHORT_INT), {6, 0, 8, 0, 8});
    REQUIRE(byte_map(*leaf(UCD_TYPE__SHORT_INT), 1) == ByteMap{0, 1, 4, 5, 6, 7});
    require_bounds(leaf(UCD_TYPE__DOUBLE_INT), {12, 0, 16, 0, 12});
    require_bounds(contig(2, leaf(UCD_TYPE__DOUBLE_INT)), {24, 0, 32, 0, 28});
    require_bounds(hindexed_block(1, {4}, leaf(UCD_TYPE__DOUBLE_INT)), {12, 4, 16, 4, 12});
    require_bounds(leaf(UCD_TYPE__2INT), {8, 0, 8, 0, 8});
    if (sizeof(long double) == 16) {
        constexpr std::intptr_t extent = alignof(long double) == 8 ? 24 : 32;
        require_bounds(leaf(UCD_TYPE__LONG_DOUBLE_INT), {20, 0, extent, 0, 20});
    }
}

TEST_CASE("oracle: byte maps of several elements, and their segments") {
    using Segments = std::vector<Segment>;
    const RecipePtr gaps = vector(2, 1, 2, leaf(UCD_TYPE__SHORT)); // 0-1, 4-5; extent 6
    REQUIRE(byte_map(*gaps, 2) == ByteMap{0, 1, 4, 5, 6, 7, 10, 11});
    REQUIRE(segments(byte_map(*gaps, 2)) == Segments{{0, 2}, {4, 4}, {10, 2}});
    REQUIRE(segments(byte_map(*gaps, 2), 1, 4) == Segments{{1, 1}, {4, 3}});
    REQUIRE(segments(byte_map(*hvector(3, 1, 4, int_type()), 2)) == Segments{{0, 24}});
    // Neighbours in memory, but not in order.
    REQUIRE(segments(byte_map(*hvector(2, 1, -4, int_type()), 1)) == Segments{{0, 4}, {-4, 4}});
    REQUIRE(segments(byte_map(*gaps, 0)).empty());
    const TouchedRange range = touched_range(byte_map(*gaps, 2));
    REQUIRE((range.low == 0 && range.high == 12));
    REQUIRE(overlaps(byte_map(*ndarray({2}, {3}, int_type()), 1)));
    REQUIRE_FALSE(overlaps(byte_map(*ndarray({2}, {-4}, int_type()), 1)));
}

TEST_CASE("oracle: recipes print as the calls that make them") {
    REQUIRE(ucdtest::to_text(*structure({2, 1}, {0, -8}, {int_type(), dup(char_type())})) ==
            "structure({2, 1}, {0, -8}, {leaf(UCD_TYPE__INT), dup(leaf(UCD_TYPE__CHAR))})");
    REQUIRE(ucdtest::to_text(*resized(vector(1, 2, -3, int_type()), -4, 5)) ==
            "resized(vector(1, 2, -3, leaf(UCD_TYPE__INT)), -4, 5)");
    REQUIRE(ucdtest::to_text(
                *darray(2, 1, {5}, {UCD_DISTRIBUTE__BLOCK}, {-1}, {2}, UCD_ORDER__C, int_type())) ==
            "darray(2, 1, {5}, {UCD_DISTRIBUTE__BLOCK}, {UCD_DISTRIBUTE__DFLT_DARG}, {2}, "
            "UCD_ORDER__C, leaf(UCD_TYPE__INT))");
}

TEST_CASE("oracle: random recipes keep their promises and are varied") {
    std::size_t empty = 0, contiguous = 0, marked = 0, large = 0, deep = 0, total = 0;
    const std::function<int(const Recipe &)> depth_of = [&](const Recipe &recipe) {
        int depth = 0;
        for (const RecipePtr &child : children(recipe)) {
            depth = std::max(depth, 1 + depth_of(*child));
        }
        return depth;
    };
    std::vector<std::size_t> constructors(std::variant_size_v<decltype(Recipe::node)>);
    run_cases("oracle recipes", 10000, [&](Case &one) {
        RecipeOptions options;
        // All of these have explicit bounds, of which there would be too many.
        if (one.number() % 16 == 0)
            options.index_memory = [](Rng &, const std::vector<std::byte> &) { return nullptr; };
        options.unpack_safe = one.number() % 2 == 1;
        const RandomType type = random_type(one.rng(), options);
        one.about("type", type.recipe);
        const TypeMap map = type_map(*type.recipe);
        const ByteMap bytes = byte_map(map, 1);
        if (bytes.size() > std::max(options.max_bytes, options.max_alike))
            one.fail("too many bytes: ", bytes.size());
        if (map.true_extent > options.max_span) one.fail("span too wide: ", map.true_extent);
        if (options.unpack_safe && overlaps(bytes)) one.fail("overlaps itself");
        if (map.lb != type.map->lb || map.extent != type.map->extent) one.fail("maps differ");
        const TouchedRange walked = touched_range(bytes), computed = touched_range(map, 1);
        // Indices stay within bounds that are given, and may leave room there.
        if (!map.by_reference && (walked.low != computed.low || walked.high != computed.high))
            one.fail("ranges differ");
        ++total;
        empty += bytes.empty();
        contiguous += segments(bytes).size() == 1;
        marked += map.explicit_bounds;
        large += bytes.size() > 512;
        deep += depth_of(*type.recipe) >= 4;
        ++constructors[type.recipe->node.index()];
    });
    if (total < 5000) return; // a single case, or few: no statistics
    INFO("empty " << empty << ", contiguous " << contiguous << ", explicit bounds " << marked
                  << ", over 512 bytes " << large << ", depth >= 4: " << deep << " of " << total);
    REQUIRE((empty > total / 100 && empty < total / 5));
    REQUIRE((contiguous > total / 50 && contiguous < total / 2));
    REQUIRE((marked > total / 20 && marked < total / 2));
    REQUIRE(large > total / 50);
    REQUIRE(deep > total / 10);
    for (const std::size_t times : constructors) REQUIRE(times > total / 200);
}

} // namespace oracle_selftest
