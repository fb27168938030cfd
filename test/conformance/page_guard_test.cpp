// Pack and unpack where every page without a touched byte faults: no load before the first byte or
// behind the last, none in a line without a touched byte, as far as pages can tell.
#include "support/catch.hpp"

#include "support/buffers/page_guard.hpp"
#include "support/moves/moving.hpp"

namespace page_guard_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

Placement random_placement(Rng &rng) {
    return rng.chance(50) ? Placement::first_byte_begins_page : Placement::last_byte_ends_page;
}

// Both buffers hold only what this range of the stream touches.
void check_guarded(Case &one, const Subject &subject, std::size_t offset, std::size_t length) {
    Rng &rng = one.rng();
    PageGuardedBuffer memory(rng, subject.bytes, offset, offset + length, random_placement(rng));
    PageGuardedBuffer packed(rng, contiguous_bytes(length), 0, length, random_placement(rng));
    BuiltType shifted;
    const MemoryLocation where =
        rng.chance(30) ? absolute_place(rng, subject, memory, shifted) : place(subject, memory);
    check_pack(one, where, offset, length, packed);
    packed.randomise(rng);
    check_unpack(one, packed, length, where, offset);
}

void check_random_ranges(Case &one, const Subject &subject) {
    Rng &rng = one.rng();
    check_guarded(one, subject, 0, subject.size());
    const std::size_t offset = rng.below(subject.size());
    check_guarded(one, subject, offset, 1 + rng.below(subject.size() - offset));
}

} // namespace

TEST_CASE("random layouts between forbidden pages") {
    run_cases("page guard", 8000, [](Case &one) {
        RecipeOptions options;
        options.unpack_safe = true;
        check_random_ranges(one, random_nonempty_subject(one, options));
    });
}

TEST_CASE("islands: layouts whose pages are mostly forbidden") {
    run_cases("islands", 3000, [](Case &one) {
        // Far strides and displacements, from random small types: what lies between is forbidden.
        Rng &rng = one.rng();
        RecipeOptions options;
        options.max_bytes = 256;
        options.max_span = 2048;
        options.max_depth = 3;
        options.unpack_safe = true;
        RandomType old;
        do {
            old = random_type(rng, options);
        } while (old.map->size == 0);
        const std::intptr_t step = rng.between(5000, 40000);
        const std::intptr_t count = rng.between(2, 8);
        RecipePtr recipe;
        if (rng.chance(50)) {
            recipe = hvector(count, 1, rng.chance(20) ? -step : step, old.recipe);
        } else {
            Ints displs;
            for (std::intptr_t i = 0; i < count; ++i)
                displs.push_back(i * step + rng.between(0, 64));
            rng.shuffle(displs);
            recipe = hindexed_block(1, displs, old.recipe);
        }
        check_random_ranges(one, make_subject(one, recipe, 1));
    });
}

} // namespace page_guard_test
