// Large batches that are seen for the first time: their table is written as members are checked.
#include "support/catch.hpp"

#include "support/moves/batch_calls.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <string>
#include <thread>
#include <vector>

namespace hostgpu_fresh_batch_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("a table with a shape for each of many members") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    Vectors many(3000); // the room for shapes is for members that share a few
    forget_counts();
    many.pack_and_check("of their own types", hints);
    CHECK(mock::counts.launches == 1);
    CHECK(mock::counts.copies == 1);
}

TEST_CASE("members that differ in one argument, and some that move nothing") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    Case one("one argument", 0);
    const Subject even = make_subject(one, vector(20, 1, 3, leaf(UCD_TYPE__DOUBLE)), 1);
    const Subject block = make_subject(one, contig(20, leaf(UCD_TYPE__DOUBLE)), 1);
    BatchMoves moves(one);
    for (std::size_t i = 0; i < 1200; ++i) {
        const Subject &s = i / 100 % 2 == 0 ? even : block;
        // Runs of members that are alike, of every length up to one portion and beyond.
        const std::size_t run = i % 200;
        if (run < 150)
            moves.add(s, 0, s.size());
        else if (run % 3 == 0)
            moves.add(s, run % 160, s.size() - run % 160);
        else
            moves.add(s, 8, run % 2 == 0 ? 0 : s.size() - 16); // nothing, or a part
    }
    moves.allocate(device0, device0);
    moves.set_up_pack();
    forget_counts();
    MoveList descs = moves.packs();
    REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
    for (const ucd_move_t &d : descs) REQUIRE(d.actual_bytes == d.outcount);
    CHECK(mock::counts.launches == 1);
    moves.check("runs of members");
}

TEST_CASE("members that differ in their count only") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    constexpr std::ptrdiff_t members = 200, room = 2 * sizeof(double);
    Rng rng(1);
    DeviceBuffer typed(rng, {0, members * room}, device0),
        packed(rng, {0, members * room}, device0);
    MoveList descs;
    for (std::ptrdiff_t i = 0; i < members; ++i) {
        const std::uintptr_t count = 1 + i % 2;
        descs.push_back(
            pack_move(typed.at(i * room), count, UCD_TYPE__DOUBLE, 0, packed.at(i * room), room));
        std::copy_n(typed.actual(i * room), count * sizeof(double), packed.expected(i * room));
    }
    typed.send();
    packed.send();
    REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
    for (const ucd_move_t &d : descs) REQUIRE(d.actual_bytes == d.incount * sizeof(double));
    packed.fetch();
    CHECK_FALSE(packed.first_difference());
}

TEST_CASE("a wrong member of a large batch, and nothing starts") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    Vectors many(300);
    many.moves.set_up_pack();
    MoveList right = many.moves.packs();
    for (int what = 0; what < 5; ++what) {
        MoveList descs = right;
        for (ucd_move_t &d : descs) d.actual_bytes = 12345;
        // Behind one that is alike, so that little of it is looked at.
        descs[211] = descs[210];
        ucd_move_t &d = descs[211];
        switch (what) {
        case 0: d.reserved[0] = 1; break;
        case 1: d.reserved[3] = 1; break;
        case 2: d.outbuf = nullptr; break;
        case 3: d.intype = no_type; break;
        default: d.inoffset = 1 << 20; break;
        }
        forget_counts();
        CHECK(move_all(descs, hints) == UCD_ERR__INVALID_ARG);
        CHECK(std::string(ucd_last_error()).find("211") != std::string::npos);
        CHECK(mock::counts.launches == 0);
        for (const ucd_move_t &each : descs) REQUIRE(each.actual_bytes == 12345);
    }
    REQUIRE(move_all(right, hints) == UCD_SUCCESS);
    many.moves.check("after wrong ones");
}

TEST_CASE("a large batch whose members are partly on another device or on the host") {
    DeviceSession session;
    Case one("elsewhere", 0);
    const Subject s = make_subject(one, vector(20, 1, 3, leaf(UCD_TYPE__DOUBLE)), 1);
    const Memory other = GENERATE(device1, pinned, pageable);
    BatchMoves here(one), there(one);
    for (int i = 0; i < 200; ++i) {
        here.add(s, 0, s.size());
        there.add(s, 0, s.size());
    }
    here.allocate(device0, device0);
    there.allocate(device0, other);
    here.set_up_pack();
    there.set_up_pack();
    MoveList descs = here.packs();
    const MoveList more = there.packs();
    descs.insert(descs.end(), more.begin(), more.end());
    REQUIRE(move_all(descs) == UCD_SUCCESS);
    here.check("here");
    there.check("there");
}

// The work before it is held back, in every lane, so that a call that waits does not return.
TEST_CASE("a large batch that cannot be made at once waits for no earlier work") {
    DeviceSession session;
    const Hints hints(true);
    const bool wrong = GENERATE(true, false); // or with a member whose indices are by reference
    constexpr std::size_t earlier = 20;       // more than a thread has lanes
    MemberByReference member;
    std::list<Vectors> batches;
    std::vector<ucd_request_t> requests(earlier + 1, UCD_REQUEST__NULL);
    for (std::size_t i = 0; i <= earlier; ++i) batches.emplace_back(200).moves.set_up_pack();
    mock::hold();
    std::size_t at = 0;
    for (Vectors &batch : batches) {
        MoveList descs = batch.moves.packs();
        ucd_request_t *const request = &requests[at++];
        const auto go = [&] { return start(descs, request, hints); };
        if (at <= earlier) {
            REQUIRE(go() == UCD_SUCCESS);
            continue;
        }
        descs[150] = pack_of(member.move());
        if (wrong) descs[150].intype = no_type;
        // By this thread, whose lanes are full; another one ends a wait that would be endless.
        std::promise<void> returned;
        std::atomic<bool> late{false};
        std::jthread watch([&] {
            late = returned.get_future().wait_for(std::chrono::seconds(20)) !=
                   std::future_status::ready;
            mock::let_go();
        });
        CHECK(go() == (wrong ? UCD_ERR__INVALID_ARG : UCD_SUCCESS));
        returned.set_value();
        watch.join();
        CHECK_FALSE(late);
    }
    CHECK(ucd_waitall(requests.size(), requests.data()) == UCD_SUCCESS);
    batches.pop_back();
    for (Vectors &batch : batches) batch.moves.check("before it");
}

} // namespace hostgpu_fresh_batch_test
