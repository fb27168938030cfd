// Lists that a type gives up once its layout says the same.
#include "support/catch.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/random/random_cases.hpp"

#include "flatten/writer.h"
#include "prepared/footprint.h"
#include "prepared/listed_blocks.h"
#include "prepared/type_cache.h"
#include "types/lists.h"

#include <ucd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace given_up_lists_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

using Ints = std::vector<std::intptr_t>;

const ucd::Type &type_of(const BuiltType &built) {
    return *reinterpret_cast<const ucd::Type *>(built.get());
}

RecipePtr random_child(Rng &rng) {
    const RecipePtr d = leaf(UCD_TYPE__DOUBLE);
    switch (rng.below(9)) {
    case 0: return leaf(UCD_TYPE__BYTE);
    case 1: return leaf(UCD_TYPE__INT);
    case 2: return contig(3, d);
    case 3: return resized(d, 0, 24);
    case 4: return resized(d, 8, -24);
    case 5: return vector(2, 1, 2, leaf(UCD_TYPE__INT));
    case 6: return hindexed_block(1, {8, 0}, d); // as many bytes as it reaches, in another order
    case 7: return leaf(UCD_TYPE__LONG_DOUBLE_INT);
    default: return d;
    }
}

// Blocks some of which touch, in ascending order or in none, and perhaps an empty one.
struct Lists {
    Ints displs, lengths;
};
Lists random_lists(Rng &rng) {
    const auto count =
        static_cast<std::size_t>(rng.chance(30) ? rng.between(1, 20) : rng.between(500, 3000));
    const auto touch = static_cast<unsigned>(rng.below(3) * 30);
    const std::intptr_t longest = rng.between(1, 6), times = rng.between(1, 2);
    Lists lists;
    std::intptr_t at = rng.between(-1000, 1000);
    for (std::size_t i = 0; i < count; ++i) {
        lists.lengths.push_back(times * rng.between(1, longest));
        lists.displs.push_back(at);
        if (!rng.chance(touch)) at += rng.between(1, 9);
        at += lists.lengths.back();
    }
    if (rng.chance(30))
        for (std::size_t i = count; i > 1; --i) {
            const std::size_t k = rng.below(i);
            std::swap(lists.displs[i - 1], lists.displs[k]);
            std::swap(lists.lengths[i - 1], lists.lengths[k]);
        }
    if (rng.chance(10)) lists.lengths[rng.below(count)] = 0;
    return lists;
}

RecipePtr random_list(Rng &rng) {
    Lists lists = random_lists(rng);
    const RecipePtr child = random_child(rng);
    const std::intptr_t each = rng.between(1, 3);
    const bool in_bytes = rng.chance(50);
    for (std::intptr_t &d : lists.displs)
        if (in_bytes) d *= rng.chance(1) ? 7 : 8;
    switch (rng.below(2)) {
    case 0:
        return in_bytes ? hindexed_block(each, lists.displs, child)
                        : indexed_block(each, lists.displs, child);
    default:
        return in_bytes ? hindexed(lists.lengths, lists.displs, child)
                        : indexed(lists.lengths, lists.displs, child);
    }
}

struct Said {
    Ints given, bytes, lengths;
    std::vector<std::uint8_t> flattened;
    friend bool operator==(const Said &, const Said &) = default;
};
Said said(const ucd::Type &type) {
    Said s;
    const ucd::TypeLists lists(type);
    for (std::size_t i = 0; i < lists.displs().size(); ++i) {
        s.given.push_back(lists.given(i));
        s.bytes.push_back(lists.at(i));
    }
    s.lengths.assign(lists.lengths().begin(), lists.lengths().end());
    s.flattened = ucd::flatten(type);
    return s;
}

} // namespace

TEST_CASE("lists that were given up are what the constructor was given") {
    std::size_t displs = 0, lengths = 0, kept = 0;
    run_cases("lists that were given up", 2000, [&](Case &c) {
        const RecipePtr recipe = random_list(c.rng());
        c.about("list", recipe);
        const BuiltType built(recipe);
        const ucd::Type &type = type_of(built);
        const Said before = said(type);
        const uint64_t bytes = ucd::list_bytes(type);
        (void)ucd::layout_of(type);
        if (said(type) != before) c.fail("it says something else");
        const ucd::ListsInLayout listed{type.lists.displs.empty(), type.lists.lengths.empty()};
        displs += listed.displs && type.form == ucd::Form::indexed && !listed.lengths;
        lengths += listed.displs && type.form == ucd::Form::indexed && listed.lengths;
        kept += !listed.displs;
        if (listed.displs && ucd::list_bytes(type) >= bytes) c.fail("it takes as much as before");
    });
    INFO(displs << " without displacements, " << lengths << " without lengths, " << kept
                << " with both");
    if (case_factor() < 1) return;
    CHECK(displs > 100);
    CHECK(lengths > 50);
    CHECK(kept > 100);
}

TEST_CASE("blocks that make up entries of one length are told as they were given") {
    const BuiltType built(
        indexed({1, 1, 2, 1, 1, 2}, {0, 1, 7, 30, 31, 44}, leaf(UCD_TYPE__DOUBLE)));
    const ucd::Type &type = type_of(built);
    const Said before = said(type);
    const ucd::Layout &layout = ucd::layout_of(type);
    REQUIRE(layout.top().kind == ucd::NodeKind::indexed_block);
    REQUIRE(layout.top().count == 4);
    REQUIRE(type.lists.displs.empty());
    CHECK(said(type) == before);
}

TEST_CASE("a list with an empty block is kept") {
    const BuiltType built(indexed({1, 0, 2, 3}, {0, 77, 5, 90}, leaf(UCD_TYPE__DOUBLE)));
    (void)ucd::layout_of(type_of(built));
    CHECK(type_of(built).lists.displs.size() == 4);
}

TEST_CASE("a type with other bounds has the layout of a long list below it") {
    Ints displs(2000), lengths(2000);
    for (std::size_t i = 0; i < displs.size(); ++i) {
        lengths[i] = 1 + static_cast<std::intptr_t>(i * i % 7 % 3);
        displs[i] = 100 + 5 * static_cast<std::intptr_t>(i * i);
    }
    const RecipePtr list = indexed(lengths, displs, leaf(UCD_TYPE__INT));
    const BuiltType built(resized(resized(list, -8, 80), 4, 1 << 30)), direct(list);
    const ucd::Type &type = type_of(built), &below = *type.child->child;
    const std::vector<std::uint8_t> before = ucd::flatten(type);
    CHECK(&ucd::layout_of(type) == &ucd::layout_of(below));
    CHECK(below.lists.displs.empty());
    CHECK(ucd::layout_of(type).start == ucd::layout_of(type_of(direct)).start);
    CHECK(ucd::flatten(type) == before);
    // Each counts once.
    CHECK(ucd::footprint_of(type) < ucd::footprint_of(below) + 2000);
    const BuiltType short_one(resized(indexed({2, 1}, {9, 3}, leaf(UCD_TYPE__INT)), 0, 80));
    (void)ucd::layout_of(type_of(short_one));
    CHECK(type_of(short_one).child->cache.load() == nullptr);
}

TEST_CASE("who holds a list finds it until the end") {
    const BuiltType built(indexed({1, 2, 3, 2}, {0, 77, 5, 90}, leaf(UCD_TYPE__DOUBLE)));
    const ucd::Type &type = type_of(built);
    {
        const ucd::TypeLists lists(type);
        (void)ucd::layout_of(type);
        REQUIRE(type.lists.displs.size() == 4);
        CHECK(lists.displs().data() == type.lists.displs.data());
        CHECK(lists.lengths()[2] == 3);
    }
    CHECK(type.lists.displs.empty());
    CHECK_FALSE(type.lists.hold());
}

TEST_CASE("threads read a list while it is given up") {
    const Ints lengths{1, 2, 3, 2, 5}, displs{0, 77, 5, 90, 20};
    for (int round = 0; round < 200; ++round) {
        const BuiltType built(indexed(lengths, displs, leaf(UCD_TYPE__DOUBLE)));
        const ucd::Type &type = type_of(built);
        const std::vector<std::uint8_t> before = ucd::flatten(type);
        std::atomic<int> wrong{0}, waiting{4};
        const auto together = [&] {
            --waiting;
            while (waiting > 0) {
            }
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([&] {
                together();
                for (int k = 0; k < 5; ++k) wrong += ucd::flatten(type) != before;
            });
            threads.emplace_back([&] {
                together();
                (void)ucd::layout_of(type);
                wrong += said(type).lengths != lengths || said(type).given != displs;
            });
        }
        for (std::thread &thread : threads) thread.join();
        CHECK(wrong == 0);
        CHECK(type.lists.displs.empty());
    }
}

} // namespace given_up_lists_test
