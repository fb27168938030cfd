// Chunks in device memory between two processes, the second of which runs this same program: the
// handles of one are opened in the other.

#include "ucx/other_process.hpp"
#include "ucx/ring_pair.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace ring_processes_test {

using namespace ucdtest;

namespace {

// What both processes make of the same random numbers.
struct Plan {
    RingEnds ends;
    bool forth, expose;
    bool open_fails; // of the sender's buffer: chunks may be open since an earlier transfer

    explicit Plan(Case &one)
        : ends(random_ends(one, Memory::device0,
                           one.rng().chance(50) ? Memory::device0 : Memory::device1)),
          forth(one.rng().chance(50)), expose(one.rng().chance(50)),
          open_fails(one.rng().chance(30) && expose && ends.from_is_contiguous()) {}
};

// One side's part of a case. Both check all that they see.
void run_case(Case &one, Side &side, bool first) {
    Plan plan(one);
    const Keys keys({{"ucd.ucx.ring_expose", plan.expose ? "yes" : "no"}});
    side.events.clear();
    Outcome outcome;
    const bool sends = first == plan.forth;
    const int opens = mock::counts.opens;
    if (sends) {
        start_send(side, plan.ends, outcome, keys.get());
    } else {
        // Twice: it is tried again when what nobody uses is closed.
        mock::knobs.failing_opens = plan.open_fails ? 2 : 0;
        start_receive(side, plan.ends, outcome, keys.get());
    }
    progress_until(side, [&] { return outcome.done(); });
    require_good(one, outcome, plan.ends.from.size(), sends ? "the sender" : "the receiver");
    if (!sends && plan.open_fails) {
        if (mock::knobs.failing_opens == 2) one.fail("it was never tried to open it");
        mock::knobs.failing_opens = 0;
        if (mock::counts.opens != opens) one.fail("it was opened all the same");
    }
    const std::size_t shared = count_of(side, UCD_UCX_EVENT__SHARE);
    if (sends && shared != (plan.open_fails ? 0 : plan.ends.chunks()))
        one.fail(shared, " of ", plan.ends.chunks(), " chunks were shared");
    if (sends) return;
    plan.ends.out.fetch();
    require_intact(one, plan.ends.out, "what was received");
}

void run_all_cases(Side &side, bool first) {
    run_cases("ucx ring processes", 100, [&](Case &one) { run_case(one, side, first); });
}

void with_peers() {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    mock::knobs.peers = true;
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace

TEST_CASE("chunks in device memory are opened by another process") {
    with_peers();
    {
        const Keys keys({SMALL_RING});
        PipelineSide side(keys.get());
        Peer peer(side, "the other process");
        run_all_cases(side, true);
        CHECK(mock::counts.opens > 0);
        CHECK(mock::counts.live_opens > 0); // they stay open
        // It goes on until it is told that both are through.
        peer.say("end");
        while (ucd_ucx_progress(side.pipeline) > 0) continue;
        CHECK(peer.hear() == "ended");
        const int status = peer.end();
        CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    CHECK(mock::counts.live_opens == 0);
}

TEST_CASE("the other process", "[.]") {
    with_peers();
    const Keys keys({SMALL_RING});
    PipelineSide side(keys.get());
    connect_with_parent(side);
    run_all_cases(side, false);
    for (pollfd in = {to_peer, POLLIN, 0}; poll(&in, 1, 0) == 0;)
        if (ucd_ucx_progress(side.pipeline) == 0) sched_yield();
    write_line(from_peer, "ended");
}

// Loss --------------------------------------------------------------

namespace {

constexpr std::intptr_t ints = 1 << 20;

// Sends or receives much of it, slowly.
struct Long {
    Case one{"ucx ring long", 0};
    Subject s = make_subject(one, recipes::vector(ints, 1, 2, recipes::leaf(UCD_TYPE__INT)), 1);
    DeviceBuffer buffer{one.rng(), s.range, Memory::device0};
    Outcome outcome;

    void start(Side &side, bool sends) {
        buffer.send();
        mock::knobs.delay_us = 1000;
        if (sends)
            start_send(side, {buffer.real_base(), 1, s.type()}, outcome);
        else
            start_receive(side, {buffer.real_base(), 1, s.type()}, outcome, 1, UCD_INFO__NULL, 1);
    }
};

const Keys &long_keys() {
    static const Keys keys({{"ucd.ucx.ring_chunk", "10000"}});
    return keys;
}

void peer_until_killed(bool sends) {
    PipelineSide side(long_keys().get());
    connect_with_parent(side);
    Long transfer;
    transfer.start(side, sends);
    for (;;)
        if (ucd_ucx_progress(side.pipeline) == 0) sched_yield();
}

void lose_peer(bool peer_sends) {
    {
        PipelineSide side(long_keys().get());
        Long transfer;
        {
            Peer peer(side, peer_sends ? "the other process sends" : "the other process receives");
            REQUIRE(side.can_fail);
            transfer.start(side, !peer_sends);
            progress_until(side, [&] {
                return count_of(side,
                                peer_sends ? UCD_UCX_EVENT__UNPACK_END : UCD_UCX_EVENT__SENT) >= 3;
            });
            CHECK((peer_sends || count_of(side, UCD_UCX_EVENT__SHARE) >= 3));
            REQUIRE(!transfer.outcome.done());
            peer.kill_it();
            const int status = peer.end();
            CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)); // at work until then
        }
        progress_until(side, [&] { return transfer.outcome.done(); });
        CHECK(transfer.outcome.result.status != UCS_OK);
        mock::knobs.delay_us = 0;
        // What was open of the other's, and in use when the endpoint was lost, is not kept.
        progress_until(side, [&] { return mock::counts.live_opens == 0; });
    }
}

} // namespace

TEST_CASE("the process that sends from its device, or receives on it, is killed") {
    lose_peer(GENERATE(true, false));
}

TEST_CASE("the other process sends", "[.]") {
    peer_until_killed(true);
}

TEST_CASE("the other process receives", "[.]") {
    peer_until_killed(false);
}

} // namespace ring_processes_test
