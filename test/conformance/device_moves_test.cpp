// Random types between every two kinds of memory, on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"
#include "support/random/random_layouts.hpp"

#include <utility>

namespace device_moves_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Some range of the subject's stream, of whole elements if it is to be reduced.
std::pair<std::size_t, std::size_t> random_range(Rng &rng, ucd_op_t op,
                                                 const ReducedSubject &what) {
    const bool replace = op == UCD_OP__REPLACE;
    const std::size_t units = replace ? what.subject.size() : what.elements.size();
    std::size_t first = 0, last = units;
    if (units > 0 && rng.chance(60)) {
        first = rng.below(units);
        last = first + 1 + rng.below(units - first);
    }
    const std::size_t from = replace ? first : what.offset_of(first);
    return {from, (replace ? last : what.offset_of(last)) - from};
}

void check_moves(Case &one, ucd_op_t op, const ReducedSubject &what, Memory a, Memory b) {
    Rng &rng = one.rng();
    DeviceBuffer typed(rng, what.subject.range, a);
    DeviceBuffer packed(rng, {0, static_cast<std::intptr_t>(what.subject.size())}, b);
    for (int i = 0; i < 2; ++i) {
        const auto [offset, length] = random_range(rng, op, what);
        const DeviceMove move{one, op, what, typed, packed, offset, length};
        check_device_pack(move);
        check_device_unpack(move);
    }
}

// Rows of bytes in planes, one behind the other or not.
RecipePtr random_box(Rng &rng) {
    const auto below = [&rng](std::size_t n) { return static_cast<std::intptr_t>(rng.below(n)); };
    const std::intptr_t row = 1 + below(20), rows = 1 + below(6), planes = 1 + below(4);
    const std::intptr_t stride = row + below(9);
    const std::intptr_t plane = stride * (rows + below(3)) + (rng.chance(80) ? 0 : 1);
    return ndarray({planes, rows, row}, {plane, rng.chance(90) ? stride : -stride, 1},
                   leaf(UCD_TYPE__BYTE));
}

} // namespace

TEST_CASE("packing and unpacking between every two memories") {
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            const std::string name = std::string("mock moves ") + name_of(a) + ", " + name_of(b);
            DeviceSession session;
            run_cases(name.c_str(), 120, [&](Case &one) {
                Rng &rng = one.rng();
                random_knobs(rng);
                const ucd_op_t op = random_device_op(rng);
                check_moves(one, op, with_elements(random_subject(one, device_options(op))), a, b);
            });
        }
    }
}

TEST_CASE("mixed elements through chunks that they do not fill") {
    DeviceSession session;
    run_cases("mock mixed elements", 600, [](Case &one) {
        Rng &rng = one.rng();
        random_knobs(rng);
        use_staging(64 + rng.below(100), 1 + static_cast<unsigned>(rng.below(3)));
        const bool reduces = !device_options(UCD_OP__SUM).elements.empty();
        const ucd_op_t op = !reduces ? UCD_OP__REPLACE : rng.chance(50) ? UCD_OP__SUM : UCD_OP__MAX;
        const ReducedSubject what = with_elements(random_subject(one, device_options(op)));
        check_moves(one, op, what, random_memory(rng), random_memory(rng));
    });
}

TEST_CASE("copies between every two memories") {
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            const std::string name = std::string("mock copies ") + name_of(a) + ", " + name_of(b);
            DeviceSession session;
            run_cases(name.c_str(), 100, [&](Case &one) {
                Rng &rng = one.rng();
                random_knobs(rng);
                const ucd_op_t op = random_device_op(rng);
                const ReducedSubject source =
                    with_elements(random_subject(one, device_options(op), 5, "source"));
                const RecipePtr other =
                    rng.chance(20) && op == UCD_OP__REPLACE
                        ? contig(static_cast<std::intptr_t>(source.subject.map->size),
                                 leaf(UCD_TYPE__BYTE))
                        : same_elements_elsewhere(rng, *source.subject.map, true);
                const ReducedSubject target =
                    with_elements(make_subject(one, other, source.subject.count, "target"));
                DeviceBuffer in(rng, source.subject.range, a), out(rng, target.subject.range, b);
                check_device_copy({one, op, source, in, target, out, {}});
                if (!overlaps(source.subject.bytes))
                    check_device_copy({one, op, target, out, source, in, {}});
            });
        }
    }
}

TEST_CASE("layouts by copy engines, without a kernel") {
    DeviceSession session;
    const Keys info({{"ucd.engine", "dma"}});
    RecipeOptions options = device_options(UCD_OP__REPLACE);
    options.index_memory = nullptr;
    run_cases("mock copy engines", 700, [&info, &options](Case &one) {
        Rng &rng = one.rng();
        mock::knobs.delay_us = rng.chance(20) ? 20 : 0;
        const ReducedSubject what =
            with_elements(rng.chance(60) ? make_subject(one, random_box(rng), 1 + rng.below(3))
                                         : random_subject(one, options));
        const std::size_t size = what.subject.size();
        DeviceBuffer typed(rng, what.subject.range, Memory::device0);
        DeviceBuffer packed(rng, {0, static_cast<std::intptr_t>(size)},
                            rng.chance(50) ? Memory::device0 : Memory::pinned);
        const std::size_t from = rng.chance(50) ? 0 : rng.below(size + 1);
        const std::size_t length = rng.chance(50) ? size - from : rng.below(size - from + 1);
        const DeviceMove move{one, UCD_OP__REPLACE, what, typed, packed, from, length};
        const bool pack = rng.chance(50);
        pack ? set_up_pack(move) : set_up_unpack(move);
        std::uintptr_t actual = 0;
        mock::counts.launches = 0;
        one.succeed(
            pack ? ucd_pack(typed.real_base(), what.subject.count, what.subject.type(), from,
                            packed.real_base(), length, &actual, info, UCD_OP__REPLACE)
                 : ucd_unpack(packed.real_base(), length, typed.real_base(), what.subject.count,
                              what.subject.type(), from, &actual, info, UCD_OP__REPLACE),
            "by copy engines");
        check_result(move);
        if (mock::backend.remembers && mock::counts.launches != 0) one.fail("a kernel moved it");
    });
}

TEST_CASE("buffers without an address of their own: absolute displacements") {
    DeviceSession session;
    run_cases("mock absolute", 200, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_nonempty_subject(one, device_options(UCD_OP__REPLACE));
        DeviceBuffer typed(rng, subject.range, random_memory(rng));
        DeviceBuffer packed(rng, {0, static_cast<std::intptr_t>(subject.size())},
                            random_memory(rng));
        for (std::size_t i = 0; i < subject.size(); ++i)
            *packed.expected(static_cast<std::intptr_t>(i)) = *typed.actual(subject.bytes[i]);
        typed.send();
        packed.send();
        // The type, shifted to where the memory is.
        const auto at = reinterpret_cast<std::intptr_t>(typed.real_base());
        const std::intptr_t length = static_cast<std::intptr_t>(subject.count);
        const ucd_type_t old = subject.type();
        ucd_type_t type = UCD_TYPE__NULL;
        one.succeed(ucd_create_hindexed(1, &length, &at, old, UCD_INFO__NULL, &type), "create");
        const BuiltType owner(type);
        pack_now(nullptr, 1, type, 0, packed.real_base(), subject.size());
        packed.fetch();
        require_intact(one, packed, "packed buffer");
    });
}

} // namespace device_moves_test
