// Batches on GPU backends while memory of the host runs out: each allocation that a call makes
// fails once. Then nothing is under way, and what comes later is right.
#include "support/catch.hpp"

#include "c_api/allocations.hpp"
#include "support/moves/batch_calls.hpp"

#include <chrono>
#include <list>
#include <thread>
#include <vector>

namespace hostgpu_batch_exhaustion_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// Without lists, with them, and elements of one kind and of several: a reduction of the last is two
// launches.
RecipePtr recipe_of(int form, std::intptr_t i) {
    if (form == 2 && i % 2 == 0)
        return structure({2, 3}, {0, 24}, {leaf(UCD_TYPE__INT), leaf(UCD_TYPE__DOUBLE)});
    if (form == 0) return vector(10 + i, 1, 2 + i % 5, leaf(UCD_TYPE__DOUBLE));
    Ints displs;
    for (std::intptr_t k = 0; k < 20 + i; ++k) displs.push_back(3 * k + k % 5 % 2);
    return indexed_block(1, displs, leaf(UCD_TYPE__INT));
}

struct Batch {
    Case one{"exhaustion", 0};
    std::list<Subject> subjects; // never used before
    BatchMoves moves{one};
    MoveList descs;

    Batch(int form, int members) {
        for (int i = 0; i < members; ++i) {
            const Subject &s = subjects.emplace_back(make_subject(one, recipe_of(form, i), 1));
            moves.add(s, 0, s.size());
        }
        moves.allocate(device0, device0);
        moves.set_up_pack();
        descs = moves.packs();
    }

    std::vector<char> packed() const {
        const auto *first = static_cast<const char *>(descs.front().outbuf);
        const auto *last = static_cast<const char *>(descs.back().outbuf);
        const std::size_t length = descs.back().outcount;
        std::vector<char> bytes(static_cast<std::size_t>(last - first) + length);
        mock::read(bytes.data(), first, bytes.size());
        return bytes;
    }

    void check_nothing_is_under_way() const {
        const std::vector<char> now = packed();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const bool unchanged = packed() == now;
        CHECK(unchanged);
    }
};

// Whether an allocation failed. Some can be done without.
bool pack_with_failure(std::size_t nth, Batch &batch, const Hints &hints, ucd_op_t op,
                       bool in_stream) {
    mock::Stream stream(0);
    ucd_request_t request = UCD_REQUEST__NULL;
    if (in_stream) mock::hold();
    mock::knobs.delay_us = in_stream ? 0 : 200;
    fail_allocation(nth);
    const int rc = in_stream ? start_in(stream, batch.descs, hints, op)
                             : start(batch.descs, &request, hints, op);
    const bool failed = !end_failing();
    CHECK((rc == UCD_SUCCESS || (failed && rc == UCD_ERR__OUT_OF_MEM)));
    if (in_stream)
        batch.subjects.clear(); // types go early, whatever has been put into the stream
    else if (rc != UCD_SUCCESS)
        batch.check_nothing_is_under_way();
    mock::let_go();
    finish_in(stream);
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    mock::knobs.delay_us = 0;
    if (rc == UCD_SUCCESS && op == UCD_OP__REPLACE) batch.moves.check("done");
    if (in_stream) return failed;
    batch.moves.set_up_pack();
    REQUIRE(move_all(batch.descs, hints) == UCD_SUCCESS);
    batch.moves.check("after memory had run out");
    return failed;
}

} // namespace

TEST_CASE("each allocation of a batch fails once") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    const int form = GENERATE(0, 1, 2);
    const int members = GENERATE(1, 6);
    const auto op = GENERATE(as<ucd_op_t>(), UCD_OP__REPLACE, UCD_OP__SUM);
    const bool in_stream = GENERATE(false, true);
    bool failed = true;
    for (std::size_t nth = 1; failed; ++nth) {
        INFO("allocation " << nth);
        {
            Batch batch(form, members);
            failed = pack_with_failure(nth, batch, hints, op, in_stream);
        }
        REQUIRE(ucd_finalize() == UCD_SUCCESS); // what was kept is not kept for the next one
        CHECK(mock::counts.live_allocations == 0);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    }
}

} // namespace hostgpu_batch_exhaustion_test
