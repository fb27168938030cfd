// What holds for both families of messages, whatever moves data: how it ends when memory, devices
// and endpoints fail, or the user cancels; and that the workers go on.

#include "support/device_test.hpp"
#include "ucx/deadline.hpp"
#include "ucx/families.hpp"

#include <algorithm>
#include <thread>

namespace families_test {

using namespace ucdtest;

namespace {

// Many chunks, and with devices at both sides many blocks of the ring.
#define SMALL                                                                                      \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {"ucd.ucx.depth", "3"},                    \
        {"ucd.ucx.ring_chunk", "1000"}, {                                                          \
        "ucd.ucx.ring_depth", "3"                                                                  \
    }

MoveShape random_shape(Rng &rng) {
    return {.ints = rng.chance(30) ? 10 : 1 + rng.below(4000),
            .device_at_a = rng.chance(40),
            .device_at_b = rng.chance(40),
            .late = rng.chance(40)};
}

// Ends the move, and says how.
ucs_status_t finish(FamilyPair &pair, FamilyMove &move) {
    pair.until([&] { return move.done(); });
    return move.result().status;
}

// So many random cases have each outcome, whatever the seed is.
constexpr std::size_t enough = 20;

} // namespace

DEVICE_TEST("transfers are cancelled at any time, by either side or both") {
    for (const Means means : {Means::tagged, Means::active}) {
        FamilyPair pair(means, {SMALL});
        std::size_t cancelled = 0, cases = 0;
        run_cases(to_text(means), 100, [&](Case &one) {
            ++cases;
            Rng &rng = one.rng();
            const MoveShape shape = random_shape(rng);
            const ucp_tag_t tag = 1 + rng.below(1000000);
            FamilyMove move(pair, shape, tag);
            mock::knobs.delay_us = rng.chance(30) ? 200 : 0;
            const std::size_t send_at = rng.below(60), receive_at = rng.below(60);
            if (move.start() != UCD_SUCCESS) one.fail(ucd_ucx_last_error());
            for (std::size_t step = 0; step < 60; ++step) {
                if (step == send_at) ok(move.cancel_send(), "cancel");
                if (step == receive_at) move.cancel_receive();
                pair.progress();
            }
            pair.until([&] { return move.second.done(); });
            // A receive that was cancelled before its message came leaves that to the next one,
            // for which the sender may wait.
            Outcome next;
            const SparseInts out(shape.ints, 0, false);
            if (means == Means::tagged)
                start_receive(pair.b(), {out.data(), 1, out.type()}, next, tag);
            pair.until([&] { return move.done(); });
            for (int i = 0; i < 10; ++i) pair.progress();
            if (means == Means::tagged) {
                ok(ucd_ucx_cancel(pair.b().pipeline, next.request), "cancel");
                pair.until([&] { return next.done(); });
            }
            for (const Outcome *o : {&move.first, &move.second})
                if (o->result.status != UCS_OK && o->result.status != UCS_ERR_CANCELED)
                    one.fail(ucs_status_string(o->result.status));
            cancelled += move.second.result.status == UCS_ERR_CANCELED;
            if (move.second.result.status == UCS_OK && !move.is_right())
                one.fail("other bytes were received");
            if (!move.gaps_are_whole()) one.fail("gaps were written");
        });
        mock::knobs.delay_us = 0;
        CHECK((cancelled > 0 || cases < enough));
        CHECK(pair.is_usable());
    }
}

DEVICE_TEST("a receive that is too short is truncated, and the sender does not notice") {
    for (const Means means : {Means::tagged, Means::active}) {
        FamilyPair pair(means, {SMALL});
        for (const std::size_t ints : {std::size_t{4}, std::size_t{5000}}) {
            for (const bool on_device : {false, true}) {
                for (const bool late : {false, true}) {
                    FamilyMove move(pair, {.ints = ints,
                                           .device_at_a = on_device,
                                           .device_at_b = on_device,
                                           .missing = 1,
                                           .late = late});
                    ok(move.start(), to_text(means));
                    CHECK(finish(pair, move) == UCS_ERR_MESSAGE_TRUNCATED);
                    CHECK(move.first.result.status == UCS_OK);
                    (void)ucd_ucx_request_check(move.second.request, nullptr);
                    const std::string lengths = "the message has " + std::to_string(4 * ints) +
                                                " bytes, the receive takes " +
                                                std::to_string(4 * ints - 4);
                    CHECK(std::string(ucd_ucx_last_error()).find(lengths) != std::string::npos);
                    CHECK(move.gaps_are_whole());
                }
            }
        }
        CHECK(pair.is_usable());
    }
}

DEVICE_TEST("an endpoint is closed while data is anywhere") {
    for (const Means means : all_means) {
        std::size_t failed = 0;
        run_cases(to_text(means), 20, [&](Case &one) {
            Rng &rng = one.rng();
            FamilyPair pair(means, {SMALL});
            if (!pair.a().can_fail) return; // nobody would tell the other side
            if (!pair.is_usable()) one.fail("it does not begin well");
            std::vector<std::unique_ptr<FamilyMove>> moves;
            Outcome flushed;
            flushed.calls = 1;
            for (ucp_tag_t tag = 1; tag < 9; ++tag) {
                moves.push_back(std::make_unique<FamilyMove>(pair, random_shape(rng), tag));
                ok(moves.back()->start(), to_text(means));
                if (pair.one_sided() && rng.chance(20))
                    ok(ucd_ucx_fence(pair.one_sided()->a.rma, pair.a().ep), "fence");
            }
            if (pair.one_sided()) {
                const ucd_ucx_param_t p = flushed.param();
                ok(ucd_ucx_flush_nbx(pair.one_sided()->a.rma, nullptr, &p, &flushed.request),
                   "flush");
                flushed.calls = 0;
                flushed.started();
            }
            for (std::size_t steps = rng.below(60); steps > 0; --steps)
                rng.chance(50) ? pair.progress_a() : pair.progress_b();
            const auto all_are_done = [&] {
                return std::all_of(moves.begin(), moves.end(),
                                   [](const auto &m) { return m->done(); });
            };
            const bool a_first = rng.chance(50);
            pair.close_endpoint(a_first ? pair.a() : pair.b());
            for (int i = 0; i < 2000 && !all_are_done(); ++i) pair.progress();
            // UCX does not always tell the other side, which may have to do the same.
            pair.close_endpoint(a_first ? pair.b() : pair.a());
            pair.until([&] {
                return std::all_of(moves.begin(), moves.end(),
                                   [](const auto &m) { return m->first.done(); });
            });
            for (int i = 0; i < 100 && !all_are_done(); ++i) pair.progress();
            for (const auto &m : moves) m->cancel_receive();
            pair.until([&] { return all_are_done() && flushed.done(); });
            for (const auto &m : moves) {
                if (m->first.calls != 1 || m->second.calls > 1) one.fail("it was told twice");
                if (m->result().status == UCS_OK && !m->is_right()) one.fail("the data is wrong");
                if (!m->gaps_are_whole()) one.fail("gaps were written");
            }
            const auto lost = std::count_if(moves.begin(), moves.end(), [](const auto &m) {
                return m->result().status != UCS_OK;
            });
            failed += static_cast<std::size_t>(lost);
            if (flushed.request != nullptr && (flushed.result.status != UCS_OK) != (lost > 0))
                one.fail("the flush says otherwise");
            // The workers are as good as new with new endpoints.
            for (int i = 0; i < 100; ++i) pair.progress();
            pair.connect();
            if (!pair.is_usable()) one.fail("it does not go on");
        });
        CHECK((failed > 0 || !FamilyPair(means).a().can_fail));
    }
}

DEVICE_TEST("without memory for chunks a move fails, and with it the next one succeeds") {
    for (const Means means : all_means) {
        for (const char *staging : {"0", "1000000"}) {
            for (const bool at_b : {false, true}) {
                for (const long allocations : {0L, 1L, 2L}) {
                    INFO(to_text(means) << ", " << allocations << " allocations of side "
                                        << "ab"[at_b] << ", staging: " << staging);
                    FamilyPair pair(means, {{"ucd.ucx.eager", "64"},
                                            {"ucd.ucx.chunk", "1000"},
                                            {"ucd.ucx.pack", "chunk"},
                                            {"ucd.ucx.staging", staging}});
                    FamilyMove move(pair, {.ints = 1000});
                    MemoryUse &memory = at_b ? pair.b().memory : pair.a().memory;
                    memory.until_failure = allocations;
                    const int rc = move.start();
                    if (rc == UCD_SUCCESS) {
                        const ucs_status_t status = finish(pair, move);
                        CHECK((status == UCS_OK || status == UCS_ERR_NO_MEMORY ||
                               status == UCS_ERR_IO_ERROR));
                        if (status == UCS_OK) CHECK(move.is_right());
                        if (allocations == 0) CHECK(status != UCS_OK);
                        if (is_one_sided(means)) {
                            if (at_b && allocations == 0 && means != Means::get)
                                CHECK(status == UCS_ERR_NO_MEMORY);
                        } else {
                            // One chunk is enough, if it is kept. A receiver's lack of memory is
                            // not the sender's.
                            const bool suffices = allocations > 0 && *staging != '0';
                            CHECK((!suffices || status == UCS_OK));
                            CHECK((!at_b || move.first.result.status == UCS_OK));
                            CHECK((status == UCS_OK || move.result().ucd == UCD_ERR__OUT_OF_MEM));
                        }
                    } else {
                        CHECK(rc == UCD_ERR__OUT_OF_MEM);
                        CHECK((!at_b && move.first.request == UCD_UCX_REQUEST__NULL));
                        move.first.calls = 1;
                        move.cancel_receive();
                        pair.until([&] { return move.done(); });
                    }
                    memory.until_failure = -1;
                    CHECK(pair.is_usable());
                }
            }
        }
    }
}

DEVICE_TEST("a device fails in the midst of a move") {
    std::size_t cases = 0, refused = 0, failed[2] = {}; // of receivers, and of senders
    for (const Means means : all_means) {
        FamilyPair pair(means, {SMALL});
        run_cases(to_text(means), 60, [&](Case &one) {
            ++cases;
            Rng &rng = one.rng();
            MoveShape shape = random_shape(rng);
            if (!shape.device_at_a) shape.device_at_b = true;
            FamilyMove move(pair, shape, 1 + rng.below(1000000));
            std::atomic<int> &knob =
                rng.chance(50) ? mock::knobs.failing_launch : mock::knobs.failing_work;
            knob = static_cast<int>(1 + rng.below(shape.ints > 500 ? 10 : 2));
            const int rc = move.start();
            if (rc != UCD_SUCCESS) {
                knob = 0;
                ++refused; // then nothing was sent
                if (rc != UCD_ERR__DEVICE || !shape.device_at_a) one.fail(ucd_ucx_last_error());
                for (int i = 0; i < 20; ++i) pair.progress();
                if (move.second.done()) one.fail("something was received");
                move.first.calls = 1;
                move.cancel_receive();
                return pair.until([&] { return move.done(); });
            }
            const ucs_status_t status = finish(pair, move);
            knob = 0;
            if (status == UCS_OK) { // there was less to do
                if (!move.is_right()) one.fail("the data is wrong");
                return;
            }
            // A target tells its origin a status, and nothing of UCD's.
            const bool tells = !is_one_sided(means);
            if (status != UCS_ERR_IO_ERROR || (tells && move.result().ucd != UCD_ERR__DEVICE))
                one.fail("the failure was ", ucs_status_string(status), ", ",
                         ucd_strerror(move.result().ucd));
            const bool sender = move.first.result.status != UCS_OK;
            ++failed[sender];
            if (is_one_sided(means)) return;
            if (sender && (!shape.device_at_a || move.second.result.status != UCS_ERR_IO_ERROR))
                one.fail("the receiver got ", ucs_status_string(move.second.result.status));
            if (!sender && !shape.device_at_b) one.fail("the receiver has no device");
        });
        CHECK(pair.is_usable());
    }
    if (cases < 5 * enough) return;
    CHECK(refused > 0);
    CHECK(failed[0] > 0);
    CHECK(failed[1] > 0);
}

// Threads ---------------------------------------------------------------------

namespace {

// The moves of one thread; what went wrong, or "". Checks are the main thread's.
std::string move_in_thread(FamilyPair &pair, unsigned thread) {
    for (unsigned round = 0; round < 15; ++round) {
        // Its memory ends each time, so that other memory comes where it was.
        FamilyMove move(pair,
                        {.ints = round % 5 == 0 ? 10U : 3000U,
                         .device_at_a = round % 3 == 0,
                         .device_at_b = round % 4 < 2},
                        thread * 1000 + round);
        if (move.start() != UCD_SUCCESS) return ucd_ucx_last_error();
        const bool cancels = !is_one_sided(pair.means) && round % 7 == 3;
        if (cancels && move.cancel_send() != UCD_SUCCESS) return ucd_ucx_last_error();
        Deadline limit(30);
        while (!move.done()) {
            pair.progress();
            if (limit.has_passed()) return "it takes too long";
        }
        const ucs_status_t status = move.result().status;
        if (cancels && status == UCS_ERR_CANCELED) continue;
        if (status != UCS_OK) return ucs_status_string(status);
        if (!move.is_right()) return "the data is wrong";
    }
    return "";
}

} // namespace

DEVICE_TEST("threads share two workers") {
    for (const Means means : all_means) {
        for (const char *direct : {"no", "always"}) {
            FamilyPair pair(means, {SMALL, {"ucd.ucx.direct", direct}}, UCS_THREAD_MODE_MULTI);
            std::string failures[4];
            std::vector<std::thread> threads;
            for (unsigned t = 0; t < 4; ++t)
                threads.emplace_back([&, t] { failures[t] = move_in_thread(pair, t + 1); });
            for (std::thread &t : threads) t.join();
            for (const std::string &failure : failures) CHECK(failure == "");
        }
    }
}

} // namespace families_test
