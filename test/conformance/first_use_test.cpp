// Lists at their first use, which moves them as they were described, and at later ones, which have
// a layout: the same bytes each time.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/keys.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/moving.hpp"

#include <algorithm>
#include <numeric>

namespace first_use_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Some are consecutive bytes, some only as many as their extent.
RecipePtr random_child(Rng &rng) {
    switch (rng.below(9)) {
    case 0: return leaf(UCD_TYPE__BYTE);
    case 1: return leaf(UCD_TYPE__SHORT);
    case 2: return leaf(UCD_TYPE__DOUBLE);
    case 3: return leaf(UCD_TYPE__SHORT_INT); // has a hole
    case 4: return contig(rng.between(1, 80), leaf(UCD_TYPE__INT));
    case 5: return indexed_block(1, {1, 0, 2}, leaf(UCD_TYPE__INT)); // in another order
    case 6: {
        const std::intptr_t first = rng.chance(50) ? 0 : 8; // before it there is nothing
        return structure({1, 1}, {first, first + 4}, {leaf(UCD_TYPE__INT), leaf(UCD_TYPE__FLOAT)});
    }
    case 7: {
        const std::intptr_t extent = rng.between(-24, 24);
        return resized(leaf(UCD_TYPE__INT), rng.between(-8, 8), extent);
    }
    default: return vector(2, 1, rng.between(1, 3), leaf(UCD_TYPE__INT));
    }
}

// Of a child: places in any order, or in order with some that touch; overlapping if that may be.
RecipePtr random_list(Rng &rng, const RecipePtr &child, bool may_overlap) {
    const TypeMap map = type_map(*child);
    const std::size_t count = 1 + rng.mostly_small(rng.chance(5) ? 3000 : 300);
    const bool own = rng.chance(50), bytes = rng.chance(40);
    const auto longest = static_cast<std::intptr_t>(1 + rng.mostly_small(12));
    const std::intptr_t size = std::max<std::intptr_t>(
        map.true_extent, 1); // of a child, and as far as one may lie from the next
    const std::intptr_t reach = size + (longest - 1) * std::abs(map.extent);
    const std::intptr_t unit = bytes ? 1 : std::max<std::intptr_t>(std::abs(map.extent), 1);
    const std::intptr_t slot = (reach + unit - 1) / unit;
    Ints displs(count), lengths;
    std::iota(displs.begin(), displs.end(), std::intptr_t{0});
    if (rng.chance(60)) rng.shuffle(displs);
    const std::intptr_t first = rng.chance(50) ? 0 : rng.between(-5000, 5000);
    for (std::intptr_t &displ : displs)
        displ = may_overlap ? rng.between(-300, 300) : first + displ * slot;
    if (!own)
        return bytes ? hindexed_block(longest, displs, child)
                     : indexed_block(longest, displs, child);
    for (std::size_t i = 0; i < count; ++i)
        lengths.push_back(rng.chance(20) ? 0 : rng.chance(30) ? longest : rng.between(1, longest));
    return bytes ? hindexed(lengths, displs, child) : indexed(lengths, displs, child);
}

RecipePtr wrapped(Rng &rng, RecipePtr list) {
    while (rng.chance(30)) {
        if (rng.chance(50))
            list = dup(list);
        else
            list = resized(list, rng.between(-100, 100), rng.between(40000, 90000));
    }
    return list;
}

// Fails the case unless it works twice, whatever came first.
void check_uses(Case &one, const RecipePtr &recipe, std::size_t count, bool may_overlap) {
    Rng &rng = one.rng();
    const Subject packs = make_subject(one, recipe, count),
                  unpacks = make_subject(one, recipe, count);
    GuardedBuffer memory(rng, packs.range);
    GuardedBuffer packed = packed_buffer(rng, packs.size());
    if (rng.chance(10)) // a part comes first
        check_pack(one, place(packs, memory), packs.size() / 3, packs.size() / 2, packed);
    for (int use = 0; use < 3; ++use) {
        packed.randomise(rng);
        check_pack(one, place(packs, memory), 0, packs.size(), packed);
    }
    if (may_overlap) return;
    for (int use = 0; use < 3; ++use) {
        packed.randomise(rng);
        check_unpack(one, packed, packs.size(), place(unpacks, memory), 0);
    }
}

} // namespace

TEST_CASE("lists are moved alike at their first and at later uses") {
    run_cases("first use", 6000, [](Case &one) {
        Rng &rng = one.rng();
        const bool may_overlap = rng.chance(30);
        const RecipePtr list = wrapped(rng, random_list(rng, random_child(rng), may_overlap));
        const TypeMap map = type_map(*list);
        if (map.size == 0) return;
        check_uses(one, list, rng.chance(85) || may_overlap ? 1 : 2, true);
        if (!may_overlap && !overlaps(map, 1)) check_uses(one, list, 1, false);
    });
}

TEST_CASE("long lists are moved by several threads at their first use") {
    const Keys info({{"ucd.threads", "3"}});
    run_cases("first use in threads", 6, [&](Case &one) {
        Rng &rng = one.rng();
        // No multiple of the threads.
        const std::intptr_t count = 60000 + 3 * rng.between(0, 3) + rng.between(1, 2);
        const std::intptr_t block = 6 + rng.between(0, 2);
        Ints displs(static_cast<std::size_t>(count)), lengths;
        std::iota(displs.begin(), displs.end(), std::intptr_t{0});
        rng.shuffle(displs);
        for (std::intptr_t &displ : displs) displ *= block;
        for (std::size_t i = 0; i < displs.size(); ++i)
            lengths.push_back(rng.chance(10) ? 0 : rng.between(1, block));
        const RecipePtr list = rng.chance(50) ? indexed_block(block, displs, leaf(UCD_TYPE__DOUBLE))
                                              : indexed(lengths, displs, leaf(UCD_TYPE__DOUBLE));
        const Subject packs = make_subject(one, list, 1), unpacks = make_subject(one, list, 1);
        GuardedBuffer memory(rng, packs.range);
        GuardedBuffer packed = packed_buffer(rng, packs.size());
        const auto at = [](std::size_t i) { return static_cast<std::intptr_t>(i); };
        std::uintptr_t moved = 0;
        for (std::size_t i = 0; i < packs.size(); ++i)
            *packed.expected(at(i)) = *memory.actual(packs.bytes[i]);
        one.succeed(ucd_pack(memory.base(), 1, packs.type(), 0, packed.base(), packs.size(), &moved,
                             info, UCD_OP__REPLACE),
                    "ucd_pack");
        require_intact(one, packed, "what was packed");
        packed.randomise(rng);
        for (std::size_t i = 0; i < packs.size(); ++i)
            *memory.expected(packs.bytes[i]) = *packed.actual(at(i));
        one.succeed(ucd_unpack(packed.base(), packs.size(), memory.base(), 1, unpacks.type(), 0,
                               &moved, info, UCD_OP__REPLACE),
                    "ucd_unpack");
        require_intact(one, memory, "what was unpacked to");
    });
}

} // namespace first_use_test
