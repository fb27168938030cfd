// Copies from layout to layout between memories that one device reaches, and others, on whatever
// backend the program is linked with.
#include "support/catch.hpp"

#include "support/moves/batch_moves.hpp"
#include "support/moves/strided_move.hpp"
#include "support/random/random_layouts.hpp"

#include <iterator>
#include <utility>

namespace device_copy_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// Moves all of one to the start of the other, if that is possible, and any part of it to any place
// in the other, if the result is certain.
void check_copy(Case &one, const ReducedSubject &source, const ReducedSubject &target, Memory a,
                Memory b) {
    if (overlaps(target.subject.bytes)) return;
    DeviceBuffer in(one.rng(), source.subject.range, a), out(one.rng(), target.subject.range, b);
    check_device_copy({one, UCD_OP__REPLACE, source, in, target, out,
                       random_range(one.rng(), source.subject.size(), target.subject.size())});
    if (source.subject.size() > target.subject.size()) return;
    check_device_copy({one, UCD_OP__REPLACE, source, in, target, out, {}});
}

Memory near_memory(Rng &rng) {
    constexpr Memory near[] = {device0, device0, device0, device1, pinned, managed};
    return near[rng.below(std::size(near))];
}

} // namespace

TEST_CASE("copies between any two layouts") {
    DeviceSession session;
    run_cases("device copies", 1500, [](Case &one) {
        Rng &rng = one.rng();
        const RecipeOptions options = device_options(UCD_OP__REPLACE);
        const ReducedSubject source = with_elements(random_subject(one, options, 5, "source"));
        const ReducedSubject target = with_elements(random_subject(one, options, 9, "target"));
        const Memory a = near_memory(rng), b = near_memory(rng);
        check_copy(one, source, target, a, b);
        if (!overlaps(source.subject.bytes)) check_copy(one, target, source, b, a);
    });
}

TEST_CASE("copies between arrays of the same elements in other shapes and orders") {
    DeviceSession session;
    run_cases("device copies of strides", 800, [](Case &one) {
        Rng &rng = one.rng();
        constexpr std::intptr_t totals[] = {1, 7, 36, 64, 360, 1024, 1152, 4096};
        const std::pair<RecipePtr, std::intptr_t> elements[] = {
            {leaf(UCD_TYPE__CHAR), 1},
            {leaf(UCD_TYPE__INT16_T), 2},
            {leaf(UCD_TYPE__FLOAT), 4},
            {leaf(UCD_TYPE__DOUBLE), 8},
            {leaf(UCD_TYPE__C_DOUBLE_COMPLEX), 16},
            {contig(3, leaf(UCD_TYPE__CHAR)), 3},
            {contig(3, leaf(UCD_TYPE__DOUBLE)), 24}};
        const auto &[element, bytes] = elements[rng.below(std::size(elements))];
        const std::intptr_t total = totals[rng.below(std::size(totals))];
        const ReducedSubject source = with_elements(
            make_subject(one, random_strides(rng, total, element, bytes), 1, "source"));
        const ReducedSubject target = with_elements(
            make_subject(one, random_strides(rng, total, element, bytes), 1, "target"));
        check_copy(one, source, target, near_memory(rng), near_memory(rng));
    });
}

TEST_CASE("copies from every form to every form") {
    DeviceSession session;
    constexpr std::pair<Memory, Memory> memories[] = {
        {device0, device0}, {pinned, device1}, {device1, pageable}, {device0, device1}};
    const std::vector<RecipePtr> forms = all_forms();
    // One case for each form and pair of memories: both change from one to the next.
    run_cases("forms to forms", std::size(memories) * forms.size(), [&](Case &one) {
        const auto &[a, b] =
            memories[(one.number() + one.number() / forms.size()) % std::size(memories)];
        use_staging(std::size_t{1} << 17, 3);
        const RecipePtr &from = forms[one.number() % forms.size()];
        const ReducedSubject source = with_elements(make_subject(one, from, 1, "source"));
        for (const RecipePtr &to : forms) {
            const std::size_t size = with_elements(make_subject(one, to, 1)).subject.size();
            const std::size_t count = (source.subject.size() + size - 1) / size;
            if (count > 300) continue;
            check_copy(one, source, with_elements(make_subject(one, to, count, "target")), a, b);
        }
    });
}

TEST_CASE("copies of some megabytes: threads have several words", "[bulk]") {
    DeviceSession session;
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE);
    Case one("megabytes", 0);
    const auto subject = [&one](const RecipePtr &recipe) {
        return with_elements(make_subject(one, recipe, 1));
    };
    // Levels that fit into each other, and such as do not.
    check_copy(one, subject(vector(35000, 16, 18, number)), subject(vector(70000, 8, 9, number)),
               device0, device0);
    check_copy(one, subject(vector(112000, 5, 6, number)), subject(vector(80000, 7, 8, number)),
               device0, device0);
}

TEST_CASE("a reduction asks for the op of no element that it does not reach") {
    DeviceSession session;
    Case one("prefix", 0);
    const RecipePtr number = leaf(UCD_TYPE__INT);
    int supported = 0;
    REQUIRE(ucd_op_is_supported(UCD_OP__SUM, UCD_TYPE__INT, mock::backend.name, &supported) ==
            UCD_SUCCESS);
    if (!supported) return;
    for (const RecipePtr &from : {contig(4, number), vector(4, 1, 2, number)}) {
        const ReducedSubject source = with_elements(make_subject(one, from, 1, "source"));
        for (const ucd_type_t last : {UCD_TYPE__CHAR, UCD_TYPE__LONG_DOUBLE})
            for (const std::intptr_t second : {8, 12}) { // in one piece, or not
                const ReducedSubject target = with_elements(make_subject(
                    one, structure({2, 2, 1}, {0, second, 64}, {number, number, leaf(last)}), 1,
                    "target"));
                for (const Memory a : all_memories)
                    for (const Memory b : all_memories) {
                        DeviceBuffer in(one.rng(), source.subject.range, a);
                        DeviceBuffer out(one.rng(), target.subject.range, b);
                        check_device_copy({one, UCD_OP__SUM, source, in, target, out, {}});
                    }
            }
    }
}

} // namespace device_copy_test
