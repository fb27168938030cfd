// Lists that are longer than the parts in which they are looked at, and than what is expanded.
#include "support/catch.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/oracle/byte_map.hpp"
#include "support/random/random_cases.hpp"

#include <ucd.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace long_lists_test {

TEST_CASE("parts of a list that are empty do not count") {
    constexpr std::size_t entries = 5000, part = 1024;
    // Small displacements, and such as need more than 64 bits to be summed.
    for (const std::intptr_t first : {std::intptr_t{1000}, std::intptr_t{1} << 58})
        for (const std::intptr_t sign : {1, -1})
            for (std::size_t empty = 0; empty + part <= entries; empty += part) {
                std::vector<std::intptr_t> lengths(entries), displs(entries);
                for (std::size_t i = 0; i < entries; ++i) {
                    const bool counts = i < empty || i >= empty + part;
                    lengths[i] = counts ? 1 + static_cast<std::intptr_t>(i % 2) : 0;
                    displs[i] = sign * (first + 10 * static_cast<std::intptr_t>(i * 7 % entries));
                    // Of no meaning, but it tells how the part is summed.
                    if (!counts) displs[i] = i % 2 == 0 ? first : -first;
                }
                std::intptr_t low = INTPTR_MAX, high = INTPTR_MIN;
                for (std::size_t i = 0; i < entries; ++i) {
                    if (lengths[i] == 0) continue;
                    low = std::min(low, displs[i]);
                    high = std::max(high, displs[i] + lengths[i]);
                }
                INFO("from " << sign * first << ", entries " << empty << " to " << empty + part);
                const ucd::Type type = ucd::Type::hindexed(lengths, displs, UCD_TYPE__BYTE);
                CHECK(type.extent().lb == low);
                CHECK(type.extent().extent == high - low);
                CHECK(type.true_extent().lb == low);
                CHECK(type.true_extent().extent == high - low);
            }
}

namespace {

using namespace ucdtest;
using namespace ucdtest::recipes;

RecipePtr random_member(Rng &rng) {
    const ucd_type_t elements[] = {UCD_TYPE__INT8_T, UCD_TYPE__INT16_T, UCD_TYPE__INT32_T};
    const RecipePtr element = leaf(elements[rng.below(3)]);
    switch (rng.below(4)) {
    case 0: return contig(rng.between(1, 3), element);
    case 1: return vector(rng.between(2, 4), rng.between(1, 2), rng.between(3, 5), element);
    case 2: return hindexed_block(1, {0, 5, 9, 20}, element);
    default: return hvector(2, 1, 40, vector(2, 1, 3, element));
    }
}

} // namespace

TEST_CASE("structures of many members are packed in order") {
    run_cases("long structures", 400, [](Case &one) {
        Rng &rng = one.rng();
        std::vector<RecipePtr> kinds;
        const bool alike = rng.chance(50);
        for (std::size_t n = alike ? 1 : 1 + rng.below(3); n > 0; --n)
            kinds.push_back(random_member(rng));
        Ints lengths, displs;
        std::vector<RecipePtr> members;
        std::intptr_t at = rng.between(0, 100);
        for (std::size_t n = 60 + rng.below(900); n > 0; --n) {
            lengths.push_back(!alike && rng.chance(10) ? 2 : 1);
            displs.push_back(at);
            members.push_back(kinds[rng.chance(70) ? 0 : rng.below(kinds.size())]);
            at += 300 + (rng.chance(50) ? 0 : rng.between(0, 9));
        }
        const RecipePtr recipe = structure(lengths, displs, members);
        one.about("type", recipe);
        const BuiltType type(recipe);
        const ByteMap bytes = byte_map(*recipe, 1);
        std::vector<char> memory(static_cast<std::size_t>(at) + 300), packed(bytes.size());
        for (char &c : memory) c = static_cast<char>(rng.bits());
        std::uintptr_t actual = 0;
        one.succeed(ucd_pack(memory.data(), 1, type.get(), 0, packed.data(), packed.size(), &actual,
                             UCD_INFO__NULL, UCD_OP__REPLACE),
                    "ucd_pack");
        for (std::size_t i = 0; i < packed.size(); ++i)
            if (packed[i] != memory[static_cast<std::size_t>(bytes[i])])
                one.fail("byte ", i, " of ", packed.size(), " is another one");
    });
}

} // namespace long_lists_test
