// Random layouts, each in two descriptions made from it by the inverse of the rewrites: both must
// have one normal form.
#include "support/catch.hpp"

#include "support/oracle/byte_map.hpp"
#include "support/random/random_cases.hpp"
#include "unit/disguise.hpp"
#include "unit/normal_form.hpp"

namespace disguises_random_test {

using namespace ucdtest;

namespace {

// The generator is checked too, by the oracle, as long as that takes no time.
void compare(Case &one, const RecipePtr &plain, const RecipePtr &disguise, const Shape &shape) {
    one.about("plain", plain);
    one.about("disguise", disguise);
    if (shape.bytes <= 4096 && byte_map(*plain, 1) != byte_map(*disguise, 1))
        one.fail("the test is wrong: the two are not the same bytes");
    const std::string wanted = form_of(plain), found = form_of(disguise);
    if (wanted != found)
        one.fail("two normal forms:\n  ", shortened(wanted), "\n  ", shortened(found));
}

} // namespace

TEST_CASE("Small layouts in random disguise") {
    run_cases("small disguises", 5000, [](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(4));
        const ShapePtr shape = random_shape(one.rng(), options);
        if (shape->blocks > 1024) return;
        compare(one, plainly(*shape), disguised(one.rng(), *shape, {}), *shape);
    });
}

// Layouts that are too large to be normalised from their segments.
TEST_CASE("Large layouts in random disguise") {
    run_cases("large disguises", 2000, [](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(4));
        options.max_entries = 4 + one.rng().below(one.rng().chance(50) ? 20 : 2000);
        options.max_blocks = 40000;
        options.touching = false;
        const ShapePtr shape = random_shape(one.rng(), options);
        DisguiseOptions how;
        how.cut_apart = how.nest_fields = false;
        compare(one, plainly(*shape), disguised(one.rng(), *shape, how), *shape);
    });
}

TEST_CASE("Lists of 100000 blocks in random disguise") {
    run_cases("long lists in disguise", 10, [](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(3));
        options.max_entries = 100000;
        options.max_blocks = 400000;
        options.touching = options.fields = false;
        const ShapePtr shape = random_shape(one.rng(), options);
        DisguiseOptions how;
        how.cut_apart = how.nest_fields = false;
        compare(one, plainly(*shape), disguised(one.rng(), *shape, how), *shape);
    });
}

// Of more than 1024 segments, these are known to differ now and then. Run with the tag [gaps] to
// see where they stand.
TEST_CASE("Large layouts in disguises that rewrites of the structure may miss", "[.][gaps]") {
    run_cases("large disguises, gaps", 5000, [](Case &one) {
        ShapeOptions options;
        options.depth = 1 + static_cast<int>(one.rng().below(4));
        options.max_entries = 4 + one.rng().below(400);
        options.max_blocks = 20000;
        const ShapePtr shape = random_shape(one.rng(), options);
        compare(one, plainly(*shape), disguised(one.rng(), *shape, {}), *shape);
    });
}

} // namespace disguises_random_test
