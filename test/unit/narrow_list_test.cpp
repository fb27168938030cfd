// Long lists of pieces, which the plan for the CPU has in 32 bits each.
#include "support/catch.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"

#include "nest_plan.h"
#include "prepared/type_cache.h"

#include <ucd.h>

#include <cstdint>
#include <vector>

namespace narrow_list_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

using Ints = std::vector<std::intptr_t>;

// Runs of one and two elements, in no order that comes again.
struct Runs {
    Ints displs, lengths;
    std::size_t elements = 0;
    std::intptr_t end = 0;
};
Runs runs_of(std::size_t count) {
    Runs runs;
    std::uint64_t bits = 1;
    for (std::size_t i = 0; i < count; ++i) {
        bits = bits * 6364136223846793005 + 1442695040888963407;
        const std::intptr_t length = 1 + ((bits >> 60) % 5 < 2);
        runs.displs.push_back(runs.end);
        runs.lengths.push_back(length);
        runs.elements += static_cast<std::size_t>(length);
        runs.end += length + 1 + static_cast<std::intptr_t>(bits >> 63);
    }
    return runs;
}

ucd::seq::NestPlan plan_of(const BuiltType &built) {
    const ucd::Layout &layout = ucd::layout_of(*reinterpret_cast<const ucd::Type *>(built.get()));
    return ucd::seq::make_nest(layout, layout.top(), false);
}

constexpr std::size_t many = 3'300'000, few = 2'000'000; // runs; of 1.4 pieces each

std::uint8_t byte_at(std::size_t i) {
    return static_cast<std::uint8_t>((i * 0x9e3779b97f4a7c15) >> 56);
}

} // namespace

TEST_CASE("long lists of pieces are kept in 32 bits each") {
    Runs runs = runs_of(many);
    const auto bytes_of = [](const Runs &r, const RecipePtr &child) {
        const ucd::seq::NestPlan plan = plan_of(BuiltType(indexed(r.lengths, r.displs, child)));
        return std::pair(plan.narrow != nullptr, plan.list_bytes());
    };
    CHECK(bytes_of(runs, leaf(UCD_TYPE__DOUBLE)) ==
          std::pair(true, sizeof(ucd::seq::NarrowList) + 4 * runs.elements));
    // In units of the block that all are multiples of.
    runs.displs.back() = std::intptr_t{1} << 31;
    CHECK(bytes_of(runs, leaf(UCD_TYPE__DOUBLE)).first);
    runs.displs.back() = -runs.displs.back();
    CHECK(bytes_of(runs, leaf(UCD_TYPE__DOUBLE)).first);
    // Too far.
    runs.displs.back() = std::intptr_t{1} << 32;
    const auto [narrow, bytes] = bytes_of(runs, leaf(UCD_TYPE__DOUBLE));
    CHECK_FALSE(narrow);
    CHECK(bytes >= 8 * runs.elements);
    CHECK_FALSE(bytes_of(runs_of(few), leaf(UCD_TYPE__DOUBLE)).first);
}

TEST_CASE("any part of a long list of pieces is moved") {
    const Runs runs = runs_of(many);
    const auto extent = 2 * static_cast<std::size_t>(runs.end) + 5;
    // Displaced, so that the least displacement is not that of the first run.
    Ints displs = runs.displs;
    for (std::intptr_t &d : displs) d *= 2;
    std::swap(displs.front(), displs[many / 2]);
    const BuiltType built(resized(hindexed(runs.lengths, displs, leaf(UCD_TYPE__INT16_T)), 0,
                                  static_cast<std::intptr_t>(extent)));
    REQUIRE(runs.lengths.front() == runs.lengths[many / 2]);
    REQUIRE(plan_of(built).narrow != nullptr);
    constexpr std::size_t objects = 2;
    std::vector<std::size_t> place; // of each packed byte
    for (std::size_t object = 0; object < objects; ++object)
        for (std::size_t i = 0; i < many; ++i)
            for (std::intptr_t k = 0; k < 2 * runs.lengths[i]; ++k)
                place.push_back(object * extent + static_cast<std::size_t>(displs[i] + k));
    std::vector<std::uint8_t> typed(objects * extent), packed(place.size());
    for (std::size_t i = 0; i < typed.size(); ++i) typed[i] = byte_at(i);
    const std::size_t one = place.size() / objects;
    const auto check = [&](std::size_t count, std::size_t offset, std::size_t length) {
        INFO("count " << count << ", offset " << offset << ", length " << length);
        REQUIRE(pack_now(typed.data(), count, built.get(), offset, packed.data(), length) ==
                length);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < length; ++i) wrong += packed[i] != typed[place[offset + i]];
        CHECK(wrong == 0);
        std::vector<std::uint8_t> into(typed.size(), 0), expected(typed.size(), 0);
        for (std::size_t i = 0; i < length; ++i) expected[place[offset + i]] = packed[i];
        unpack_now(packed.data(), length, into.data(), count, built.get(), offset);
        CHECK(into == expected);
    };
    check(1, 0, one);
    check(1, 1, one - 1);
    check(1, one / 2 + 1, 1000);
    check(2, 0, 2 * one);
    check(2, one - 700, 1401);
    check(2, 2 * one - 255, 255);
}

} // namespace narrow_list_test
