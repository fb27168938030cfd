// What does not fit 63 bits: at creation, or where a call's count comes in. The last that fits
// does.
#include "support/catch.hpp"

#include "support/moves/recipe_build.hpp"

#include <vector>

namespace overflow_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

const RecipePtr byte = leaf(UCD_TYPE__BYTE), an_int = leaf(UCD_TYPE__INT);
const std::intptr_t most = INTPTR_MAX, least = -INTPTR_MAX, half = INTPTR_MAX / 2;
const int C = UCD_ORDER__C, F = UCD_ORDER__FORTRAN;

// build() throws with the message; OVERFLOW has words of its own for each case.
bool is_created(const RecipePtr &recipe) {
    try {
        const BuiltType type(recipe);
        return true;
    } catch (const std::runtime_error &) {
        return false;
    }
}

struct Edge {
    const char *name;
    RecipePtr fits, does_not;
};

std::vector<Edge> edges() {
    const RecipePtr wide = resized(an_int, 0, half), back = resized(byte, 0, -half);
    return {
        {"contig, size", contig(most, byte), contig(most / 4 + 1, an_int)},
        {"contig, size of many at one place", contig(most, resized(byte, 0, 0)),
         contig(most / 4 + 1, resized(an_int, 0, 0))},
        {"contig, reach", contig(2, resized(byte, 0, half)), contig(3, resized(byte, 0, half))},
        {"contig, backwards", contig(2, back), contig(4, back)},
        {"vector, stride in bytes", vector(2, 1, most / 4 - 1, an_int),
         vector(2, 1, most / 4 + 1, an_int)},
        {"vector, stride in bytes, down", vector(2, 1, -(most / 4) + 1, an_int),
         vector(2, 1, INTPTR_MIN / 2, an_int)},
        {"vector, last block", vector(3, 1, half / 4 - 1, an_int), vector(4, 1, half / 4, an_int)},
        {"vector, a stride that plays no part", vector(1, 1, most, an_int),
         vector(2, 1, most, an_int)},
        {"vector, blocks times length", vector(1, most, 0, byte), vector(4, most / 2, 0, byte)},
        {"hvector, last block", hvector(2, 1, most - 7, an_int), hvector(2, 1, most - 4, an_int)},
        {"hvector, count times stride", hvector(3, 1, half - 4, an_int),
         hvector(most, 1, most, an_int)},
        {"hvector, size", hvector(most, 1, 0, byte), hvector(most, 2, 0, byte)},
        {"indexed_block, displacement in bytes", indexed_block(1, {0, most / 4 - 1}, an_int),
         indexed_block(1, {0, most / 4 + 1}, an_int)},
        {"indexed_block, down", indexed_block(1, {0, -(most / 4) + 1}, an_int),
         indexed_block(1, {0, -(most / 4)}, an_int)},
        {"hindexed_block, highest byte", hindexed_block(1, {most - 4}, byte),
         hindexed_block(1, {most}, byte)},
        {"hindexed_block, lowest byte", hindexed_block(1, {least}, byte),
         hindexed_block(1, {INTPTR_MIN}, byte)},
        {"hindexed_block, from the lowest to the highest",
         hindexed_block(1, {-half, half - 1}, byte), hindexed_block(1, {-half - 2, half}, byte)},
        {"indexed, length", indexed({most}, {0}, byte), indexed({most / 4 + 1}, {0}, an_int)},
        {"indexed, sum of lengths", indexed({half, half}, {0, 0}, byte),
         indexed({half, half, half}, {0, 0, 0}, byte)},
        {"hindexed, sum of many lengths", hindexed(Ints(1024, 1LL << 52), Ints(1024, 0), byte),
         hindexed(Ints(1024, 1LL << 54), Ints(1024, 0), byte)}, // 64 bits do not hold it
        {"hindexed, reach of a long block of a wide child",
         hindexed({1LL << 41, 1}, {0, 0}, resized(byte, 0, 1 << 20)),
         hindexed({1LL << 45, 1}, {0, 0}, resized(byte, 0, 1 << 20))}, // wraps around to fit
        {"hindexed, end of a block", hindexed({4}, {most - 4}, byte),
         hindexed({5}, {most - 4}, byte)},
        {"hindexed, blocks without length do not count", hindexed({0, 1}, {INTPTR_MIN, 0}, byte),
         hindexed({1, 1}, {INTPTR_MIN, 0}, byte)},
        {"struct, bounds", structure({1, 1}, {0, most - 1}, {byte, byte}),
         structure({1, 1}, {-1, most - 1}, {byte, byte})},
        {"struct, the rounding of the extent", structure({1, 1}, {0, most - 16}, {an_int, byte}),
         structure({1, 1}, {0, most - 1}, {an_int, byte})},
        {"struct, size", structure({1, 1}, {0, 0}, {contig(half, byte), contig(half, byte)}),
         structure({2, 1}, {0, 0}, {contig(half, byte), contig(2, byte)})},
        {"struct, bounds of empty types with explicit ones",
         structure({1, 1}, {0, 0}, {resized(contig(0, byte), least, 0), byte}),
         structure({1, 1}, {-1, 5}, {resized(contig(0, byte), least, 0), byte})},
        // Neither the distance of the bounds nor what they are made of fits 128 bits with a sign.
        {"indexed, from beyond the lowest to beyond the highest",
         indexed({1, 0}, {0, most}, resized(byte, 0, most)),
         indexed({1, most - 1}, {INTPTR_MIN, most}, resized(byte, 0, most))},
        {"darray, blocks and a rest that the dimension has no room for in bytes",
         darray(2, 0, {9}, {UCD_DISTRIBUTE__CYCLIC}, {2}, {2}, C, resized(byte, 0, most / 9)),
         darray(2, 0, {9}, {UCD_DISTRIBUTE__CYCLIC}, {2}, {2}, C, resized(byte, 0, most / 8 + 1))},
        {"darray, many blocks and a rest",
         darray(2, 0, {most / 8 * 4 + 1}, {UCD_DISTRIBUTE__CYCLIC}, {2}, {2}, C, byte),
         darray(2, 0, {most / 8 * 4 + 1}, {UCD_DISTRIBUTE__CYCLIC}, {2}, {2}, C,
                resized(byte, 0, 1 << 20))},
        {"subarray, extent", subarray({most / 4}, {1}, {0}, C, an_int),
         subarray({most / 4 + 1}, {1}, {0}, C, an_int)},
        {"subarray, extent of all dimensions",
         subarray({1 << 20, 1 << 20, 1 << 22}, {1, 1, 1}, {0, 0, 0}, F, byte),
         subarray({1 << 20, 1 << 20, 1 << 23}, {1, 1, 1}, {0, 0, 0}, F, byte)},
        {"darray, extent",
         darray(1, 0, {1 << 20, 1 << 20, 1 << 22}, {0, 0, 0}, {-1, -1, -1}, {1, 1, 1}, C, byte),
         darray(1, 0, {1 << 20, 1 << 20, 1 << 23}, {0, 0, 0}, {-1, -1, -1}, {1, 1, 1}, C, byte)},
        {"ndarray, reach", ndarray({2, 2}, {half, half - 1}, byte),
         ndarray({2, 3}, {half, half}, byte)},
        {"ndarray, strides that play no part", ndarray({1, 1}, {INTPTR_MIN, most}, byte),
         ndarray({1, 2}, {INTPTR_MIN, most}, byte)},
        {"ndarray, size", ndarray({1 << 20, 1 << 20, 1 << 20}, {0, 0, 0}, an_int),
         ndarray({1 << 20, 1 << 20, 1 << 21}, {0, 0, 0}, an_int)},
        {"resized, upper bound", resized(an_int, most - 8, 8), resized(an_int, most - 8, 9)},
        {"resized, backwards", resized(an_int, 0, least), resized(an_int, -1, least)},
        {"resized, then repeated", contig(2, wide), contig(4, wide)},
    };
}

} // namespace

TEST_CASE("Constructors refuse what does not fit, and nothing before") {
    for (const Edge &edge : edges()) {
        INFO(edge.name);
        CHECK(is_created(edge.fits));
        std::string message;
        try {
            const BuiltType type(edge.does_not);
        } catch (const std::runtime_error &error) {
            message = error.what();
        }
        INFO(message);
        const bool words =
            message.find("fit") != std::string::npos || message.find("exceed") != std::string::npos;
        CHECK(words);
    }
}

TEST_CASE("Calls refuse a count that does not fit, and none before") {
    struct Counted {
        RecipePtr recipe;
        std::uintptr_t fits;
    };
    const std::uintptr_t largest = INTPTR_MAX;
    for (const Counted &c : std::vector<Counted>{
             {byte, largest},
             {an_int, largest / 4},
             {resized(byte, 0, 0), largest},
             {resized(an_int, 0, half), 2},
             {resized(an_int, 0, -half), 3},
             {resized(hindexed_block(1, {8}, byte), 0, 1 << 20), (largest >> 20) + 1},
             {hvector(2, 1, half, an_int), 1},
         }) {
        INFO(to_text(*c.recipe));
        const BuiltType type(c.recipe);
        const ucd_type_t t = type.get();
        std::uintptr_t size = 0, other = 0;
        ucd_layout_t layout = {};
        layout.struct_size = sizeof layout;
        ucd_advice_t advice = {};
        advice.struct_size = sizeof advice;
        unsigned char data[1] = {};
        const auto all = [&](std::uintptr_t count, int status) {
            INFO("count " << count);
            CHECK(ucd_get_layout(count, t, &layout) == status);
            CHECK(ucd_get_advice(count, t, 0, 0, &advice) == status);
            CHECK(ucd_iov_len(count, t, &size) == status);
            CHECK(ucd_iov_len_max(count, t, 0, &size, &other) == status);
            CHECK(ucd_iov(nullptr, count, t, 0, nullptr, 0, &size) == status);
            CHECK(ucd_iov_bytes(nullptr, count, t, 0, 0, nullptr, 0, &size, &other) == status);
            CHECK(ucd_pack(nullptr, count, t, 0, data, 0, &size, nullptr, 0) == status);
            CHECK(ucd_unpack(data, 0, nullptr, count, t, 0, &size, nullptr, 0) == status);
            CHECK(ucd_copy(nullptr, 0, t, nullptr, count, t, &size, nullptr, 0) == status);
        };
        all(c.fits, UCD_SUCCESS);
        for (const std::uintptr_t count : {c.fits + 1, largest + 1, UINTPTR_MAX})
            all(count, UCD_ERR__OVERFLOW);
    }
}

} // namespace overflow_test
