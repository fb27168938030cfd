// Equal and nearly equal batches one after the other, on GPU backends: each is new, and what was
// made for one is not taken for another's.
#include "support/catch.hpp"

#include "support/moves/batch_calls.hpp"

#include <list>
#include <string>
#include <vector>

namespace hostgpu_alike_batches_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("a batch that comes again is one launch, after an upload if it is large") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    const int members = GENERATE(20, 500);
    Vectors many(members, device0, device0);
    for (const bool packs : {true, false}) {
        MoveList moves = many.moves.list(packs);
        for (int round = 0; round < 4; ++round) {
            many.moves.set_up(packs);
            forget_counts();
            REQUIRE(move_all(moves, hints) == UCD_SUCCESS);
            CHECK(mock::counts.launches == 1);
            CHECK(mock::counts.copies == (members > 100 ? 1 : 0));
            if (round > 0 || !packs) CHECK(mock::counts.allocations == 0);
            many.moves.check(packs ? "packed again" : "unpacked again");
        }
    }
}

TEST_CASE("batches under way at once have tables of their own, whose memory serves again") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    std::list<Vectors> all;
    for (int round = 0; round < 2; ++round) {
        std::vector<ucd_request_t> requests;
        mock::hold();
        forget_counts();
        for (int i = 0; i < 12; ++i) {
            Vectors &v = all.emplace_back(120 + i);
            v.moves.set_up_pack();
            MoveList descs = v.moves.packs();
            requests.emplace_back();
            REQUIRE(start(descs, &requests.back(), hints) == UCD_SUCCESS);
        }
        if (round > 0) CHECK(mock::counts.allocations == 0);
        mock::let_go();
        REQUIRE(ucd_waitall(requests.size(), requests.data()) == UCD_SUCCESS);
    }
    for (Vectors &v : all) v.moves.check("one of several");
}

TEST_CASE("a batch is told from an equal one that is moved otherwise, or is wrong") {
    DeviceSession session;
    const Hints hints(true);
    Vectors many(60);
    MoveList descs = many.moves.packs();
    many.pack_and_check("at first", hints);
    // A sum in the place of a copy, and the copy again.
    std::vector<double> sums(many.moves.bytes_moved() / sizeof(double), 1), found(sums.size());
    auto *const packed = static_cast<double *>(descs[0].outbuf);
    for (std::size_t i = 0; i < descs.size(); ++i) {
        mock::write(const_cast<void *>(descs[i].inbuf), sums.data(), sizeof(double));
        mock::write(descs[i].outbuf, sums.data(), sizeof(double));
    }
    REQUIRE(move_all(descs, hints, UCD_OP__SUM) == UCD_SUCCESS);
    mock::read(found.data(), packed, sizeof(double));
    CHECK(found[0] == 2);
    // What is wrong now was not before.
    descs[30].reserved[1] = 1;
    CHECK(move_all(descs, hints) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[30]"));
    descs[30].reserved[1] = 0;
    descs[59].inoffset = many.subjects.back().size() + 1;
    CHECK(move_all(descs, hints) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("moves[59]"));
    descs[59].inoffset = 0;
    many.pack_and_check("once more", hints);
}

TEST_CASE("nothing of the types of batches is kept", "[bulk]") {
    DeviceSession session;
    const Hints hints(true);
    const auto use = [&hints](std::intptr_t stride) {
        Case one("kept types", 0);
        Ints displs;
        for (std::intptr_t k = 0; k < 3000; ++k) displs.push_back(stride * k + k % 5 % 2);
        const Subject s = make_subject(one, indexed_block(1, displs, leaf(UCD_TYPE__INT)), 1);
        BatchMoves moves(one);
        for (int i = 0; i < 20; ++i) moves.add(s, 0, s.size());
        moves.allocate(device0, device0);
        moves.set_up_pack();
        REQUIRE(move_all(moves.packs(), hints) == UCD_SUCCESS);
        moves.check("kept");
    };
    for (std::intptr_t stride = 3; stride < 40; ++stride) use(stride);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(mock::counts.live_allocations == 0);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace hostgpu_alike_batches_test
