// Lists of moves of all kinds between all memories, in calls and by plans, and data whose parts lie
// in several memories; on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/moves/listed_moves.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/scattered.hpp"

#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace device_lists_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("lists of moves of all kinds between all memories") {
    DeviceSession session;
    run_cases("device lists", 800, [](Case &one) {
        Rng &rng = one.rng();
        random_knobs(rng);
        use_staging(64 + rng.below(2000), 1 + static_cast<unsigned>(rng.below(4)));
        const ucd_op_t op = random_device_op(rng);
        const Listed list = random_list(one, op, everywhere);
        list.set_up();
        MoveList moves = list.descs();
        ucd_request_t request = UCD_REQUEST__NULL;
        if (rng.chance(30)) {
            one.succeed(ucd_move(moves.data(), moves.size(), UCD_INFO__NULL, op), "ucd_move");
        } else {
            one.succeed(start(moves, &request, UCD_INFO__NULL, op), "ucd_imove");
            one.succeed(finish(rng, request), "the request of a list");
        }
        list.check(moves);
    });
    mock::reset();
}

TEST_CASE("a plan does what its list does, each time, with any buffers") {
    DeviceSession session;
    run_cases("device plans", 300, [](Case &one) {
        Rng &rng = one.rng();
        random_knobs(rng);
        const ucd_op_t op = random_device_op(rng);
        Listed list = random_list(one, op, everywhere);
        MoveList moves = list.descs();
        ucd_plan_t plan = UCD_PLAN__NULL;
        one.succeed(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan),
                    "ucd_plan_create");
        for (int round = 0; round < 3; ++round) {
            if (round == 2) list.rebase(plan);
            list.set_up();
            ucd_request_t request = UCD_REQUEST__NULL;
            one.succeed(ucd_plan_start(plan, &request), "ucd_plan_start");
            if (round == 2 && rng.chance(50)) one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
            one.succeed(finish(rng, request), "the request of a plan");
            list.check(moves);
            if (round > 0) continue;
            list.run_with_others(moves, [&](const void *const *in, void *const *out) {
                one.succeed(ucd_plan_start_with(plan, in, out, &request), "ucd_plan_start_with");
                one.succeed(finish(rng, request), "the request of a start with other buffers");
            });
        }
        if (plan != UCD_PLAN__NULL) one.succeed(ucd_plan_free(&plan), "ucd_plan_free");
    });
    mock::reset();
}

// ---- one object whose parts lie in several memories ---------------------------------------------

TEST_CASE("parts of one object lie in several memories") {
    DeviceSession session;
    for (const bool as_struct : {true, false}) {
        Scattered data(mixed, as_struct);
        for (const Memory packed_memory : all_memories) {
            DeviceBuffer packed(data.one.rng(), {0, static_cast<std::intptr_t>(data.bytes)},
                                packed_memory);
            std::uintptr_t actual = 0;
            // Any range of it; the last ones end in the first part, and in a later one.
            const std::pair<std::size_t, std::size_t> ranges[] = {
                {0, data.bytes}, {90, data.bytes - 90}, {data.bytes - 4, 4}, {8, 40}, {90, 100}};
            for (const auto &[offset, bytes] : ranges) {
                data.set(7);
                const std::vector<int> before = data.stream();
                REQUIRE(ucd_pack(nullptr, 1, data.type, offset, packed.real_base(), bytes, &actual,
                                 UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
                REQUIRE(actual == bytes);
                packed.fetch();
                CHECK(std::memcmp(packed.actual(0),
                                  reinterpret_cast<const char *>(before.data()) + offset,
                                  bytes) == 0);
            }
            // Back, with other values, and added.
            pack_now(nullptr, 1, data.type, 0, packed.real_base(), data.bytes);
            data.set(1000);
            unpack_now(packed.real_base(), data.bytes, nullptr, 1, data.type, 0);
            CHECK(data.stream()[3] == 10);
            data.require_rest_intact();
            unpack_now(packed.real_base(), data.bytes, nullptr, 1, data.type, 0, UCD_INFO__NULL,
                       UCD_OP__SUM);
            const std::vector<int> sum = data.stream();
            for (std::size_t i = 0, in_part = 0, part = 0; i < sum.size(); ++i, ++in_part) {
                if (in_part == (as_struct ? 20 + part : 20)) in_part = 0, ++part;
                REQUIRE(sum[i] == 2 * (7 + static_cast<int>(in_part)));
            }
            data.require_rest_intact();
        }
    }
}

TEST_CASE("copies between objects whose parts lie in several memories") {
    DeviceSession session;
    const std::vector<Memory> others = {device1, pageable, device0, managed, pageable, device0};
    Scattered in(mixed, true), out(others, true);
    for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
        in.set(5);
        out.set(100);
        const std::vector<int> expected = in.stream();
        std::vector<int> before = out.stream();
        CHECK(copy_now(nullptr, 1, in.type, nullptr, 1, out.type, UCD_INFO__NULL, op) == in.bytes);
        const std::vector<int> found = out.stream();
        for (std::size_t i = 0; i < found.size(); ++i)
            REQUIRE(found[i] == (op == UCD_OP__SUM ? before[i] : 0) + expected[i]);
        out.require_rest_intact();
    }
}

TEST_CASE("conversions from and to objects whose parts lie in several memories") {
    DeviceSession session;
    Scattered data(mixed, true);
    const std::size_t ints = data.bytes / sizeof(int);
    for (const Memory memory : all_memories) {
        DeviceBuffer wide(data.one.rng(), {0, static_cast<std::intptr_t>(8 * ints)}, memory);
        const auto elements = static_cast<std::uintptr_t>(ints);
        std::uintptr_t actual = 0;
        data.set(11);
        const std::vector<int> before = data.stream();
        REQUIRE(ucd_copy(nullptr, 1, data.type, wide.real_base(), elements, UCD_TYPE__INT64_T,
                         &actual, UCD_INFO__NULL, UCD_OP__CONVERT) == UCD_SUCCESS);
        wide.fetch();
        for (std::size_t i = 0; i < ints; ++i) {
            std::int64_t value;
            std::memcpy(&value, wide.actual(static_cast<std::intptr_t>(8 * i)), sizeof value);
            REQUIRE(value == before[i]);
        }
        data.set(1000);
        copy_now(wide.real_base(), elements, UCD_TYPE__INT64_T, nullptr, 1, data.type,
                 UCD_INFO__NULL, UCD_OP__CONVERT);
        CHECK(data.stream() == before);
        data.require_rest_intact();
    }
}

} // namespace device_lists_test
