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
        check_listings(one, listed(subject));
        if (rng.chance(10)) {
            const BuiltType again = flattened_and_back(one, subject.type());
            check_listings(one, listed_flattened(subject, again.get()));
        }
        GuardedBuffer memory(rng, subject.range);
        GuardedBuffer packed = packed_buffer(rng, subject.size());
        const MemoryLocation where = place(subject, memory);
        check_pack_in_pieces(one, where, packed);
        check_unpack_in_pieces(one, packed, where);
    });
}

} // namespace walk_test
