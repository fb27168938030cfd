// All that the library lists and moves of random types, against the type map.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/flat_bytes.hpp"
#include "support/moves/listings.hpp"
#include "support/moves/moving.hpp"

#include <algorithm>
#include <map>

namespace walk_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

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

// Also of the type that comes back from its flattened bytes.
void walk(Case &one, const Subject &subject, bool is_flattened) {
    check_listings(one, listed(subject));
    if (is_flattened) {
        const BuiltType again = flattened_and_back(one, subject.type());
        check_listings(one, listed_flattened(subject, again.get()));
    }
    GuardedBuffer memory(one.rng(), subject.range);
    GuardedBuffer packed = packed_buffer(one.rng(), subject.size());
    const MemoryLocation where = place(subject, memory);
    check_in_pieces(one, true, where, packed);
    check_in_pieces(one, false, where, packed);
}

// Irregular blocks: their lengths, and the distances from the first byte of one to that of the
// next.
struct Blocks {
    std::size_t blocks;
    std::intptr_t length, lengths; // the shortest, and how many there are
    std::intptr_t gap, gaps;       // the same of what is between two blocks
};

RecipePtr over(const Blocks &b, std::intptr_t each, const RecipePtr &old) {
    Ints lengths, displs;
    std::intptr_t at = 0;
    for (std::size_t i = 0; i < b.blocks; ++i) {
        const auto k = static_cast<std::intptr_t>(i * i % 1009);
        lengths.push_back(b.length + k % b.lengths);
        displs.push_back(at);
        at += lengths.back() * each + b.gap + k % 11 % b.gaps;
    }
    return hindexed(lengths, displs, old);
}

// Some children touch the next one, whose bytes then begin no segment: equal children are unequal
// entries, but not those of the list below. The last block is in front of the others, so that
// children end 40 bytes behind their first byte, as some neighbours in the list are apart.
RecipePtr touching(std::intptr_t blocks) {
    Ints displs{0};
    for (std::intptr_t i = 0; i < blocks; ++i) displs.push_back(80 + 44 * i + i * i % 7 * 4);
    displs.push_back(36);
    return hindexed_block(1, displs, hindexed_block(1, displs, leaf(UCD_TYPE__INT)));
}

// Runs of blocks of which some touch, of two sizes and in units of their size.
RecipePtr two_widths() {
    Ints wide, narrow;
    std::intptr_t at = 0;
    for (std::intptr_t i = 0; i < 2000; ++i) {
        for (std::intptr_t k = 0; k <= i * i % 7 % 2; ++k) {
            wide.push_back(at + 16 * k);
            narrow.push_back(at + 8 * k);
        }
        at += 100 + i * i % 11 * 16;
    }
    return structure({1, 1}, {0, at},
                     {hindexed_block(2, wide, leaf(UCD_TYPE__DOUBLE)),
                      hindexed_block(1, narrow, leaf(UCD_TYPE__DOUBLE))});
}

// Runs of children that do not touch each other; each run touches the next one. The runs are too
// long to be written out.
RecipePtr touching_runs() {
    const RecipePtr child = resized(hvector(2, 1, 8, leaf(UCD_TYPE__INT)), 0, 100);
    return hindexed({1500, 3, 2000}, {0, 1499 * 100 + 12, 1499 * 100 + 12 + 2 * 100 + 12}, child);
}

// Types that have the same lists at several places, under other children: nothing that depends on a
// child may be shared with them.
std::vector<RecipePtr> with_equal_lists() {
    const RecipePtr byte = leaf(UCD_TYPE__BYTE), number = leaf(UCD_TYPE__INT);
    const Blocks few{10, 90, 20, 20, 5}, some{100, 5, 3, 20, 5}, many{120, 4, 3, 8, 9},
        spread{100, 5, 3, 40, 11}, short_one{12, 4, 3, 8, 3};
    return {
        over(few, 1, over(few, 1, byte)),
        over(some, 1, over(some, 1, byte)),
        over(some, 4, over(some, 4, number)),
        over(many, 1, over(many, 1, byte)),
        // A list of other blocks in between.
        over(short_one, 1, over({20, 4, 2, 8, 3}, 1, contig(2, over(short_one, 1, byte)))),
        // Equal displacements under other lengths, and the other way round.
        over({100, 5, 4, 40, 11}, 4, over(spread, 4, number)),
        over(spread, 4, over({100, 5, 3, 41, 11}, 4, number)),
        touching(300),
        touching_runs(),
        two_widths(),
    };
}

// Mostly a few predefined types, so that equal ones meet, and equal representations under other
// names.
RecipeOptions options_of_elements(Rng &rng) {
    RecipeOptions options;
    if (rng.chance(50))
        options.elements = {UCD_TYPE__LONG,      UCD_TYPE__INT64_T,         UCD_TYPE__INT,
                            UCD_TYPE__SHORT_INT, UCD_TYPE__LONG_DOUBLE_INT, UCD_TYPE__BYTE};
    if (rng.chance(30)) options.elements.resize(std::min<std::size_t>(options.elements.size(), 2));
    options.unpack_safe = rng.chance(30);
    return options;
}

// All lists of two numbers or more in a recipe and those below it, as often as they are there, and
// how often each recipe is named.
struct Parts {
    std::map<Ints, int> lists;
    std::map<const Recipe *, int> recipes;

    void number(std::intptr_t) {}
    void order(int) {}
    void list(const Ints &values) {
        if (values.size() >= 2) ++lists[values];
    }
    void list(const std::vector<int> &) {}
    void distributions(const std::vector<int> &) {}
    void distribution_args(const Ints &) {}
    void type(const RecipePtr &old) { add(*old); }
    void types(const std::vector<RecipePtr> &old) {
        for (const RecipePtr &child : old) add(*child);
    }

    void add(const Recipe &recipe) {
        if (++recipes[&recipe] > 1) return;
        std::visit(
            [&](const auto &node) {
                if constexpr (requires { visit_arguments(node, *this); })
                    visit_arguments(node, *this);
            },
            recipe.node);
    }
    bool any_twice() const {
        const auto twice = [](const auto &part) { return part.second > 1; };
        return std::ranges::any_of(lists, twice) || std::ranges::any_of(recipes, twice);
    }
};

} // namespace

// What shares equal parts of types, or looks them up, is tested by such types only.
TEST_CASE("most random types have a part twice") {
    int twice = 0, nested = 0;
    run_cases("parts twice", 1000, [&](Case &one) {
        RecipeOptions options;
        const RandomType type = random_type(one.rng(), options);
        if (type.depth < 2) return;
        ++nested;
        Parts parts;
        parts.add(*type.recipe);
        twice += parts.any_twice();
    });
    CHECK(2 * twice > nested);
}

TEST_CASE("all that is listed and moved of random types") {
    run_cases("walk", 12000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_subject(one, options_of_elements(rng));
        walk(one, subject, rng.chance(10));
    });
}

TEST_CASE("all that is listed and moved of types with equal lists under other children") {
    const std::vector<RecipePtr> recipes = with_equal_lists();
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        Case one("equal lists", i);
        walk(one, make_subject(one, recipes[i], 1), true);
    }
}

} // namespace walk_test
