// Direct transfers between two processes, of which one dies.

#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/direct_pair.hpp"
#include "ucx/other_process.hpp"

#include <algorithm>
#include <unistd.h>

namespace direct_processes_test {

using namespace ucdtest;

namespace {

constexpr std::size_t large = 1 << 20, very_large = 12 << 20; // ints; the latter: many steps

// Sends or receives until it is killed.
void go_on(Side &side, bool sends, std::size_t ints) {
    MappableStrided small(500), what(ints);
    for (std::size_t i = 0;; ++i) {
        Outcome outcome;
        Strided &data = i < 30 ? small : what;
        ok(sends ? start_send(side, data, outcome) : start_receive(side, data, outcome), "start");
        progress_until(side, [&] { return outcome.done(); });
    }
}

// The first small ones, which introduce the processes.
void begin(Side &side, bool sends) {
    for (int i = 0; i < 30; ++i) {
        MappableStrided data(500);
        Outcome outcome;
        ok(sends ? start_send(side, data, outcome) : start_receive(side, data, outcome), "start");
        progress_until(side, [&] { return outcome.done(); });
        REQUIRE(outcome.result.status == UCS_OK);
        ::usleep(1000);
    }
}

std::size_t count(const Side &side, int what) {
    return static_cast<std::size_t>(std::count_if(
        side.events.begin(), side.events.end(), [what](const auto &e) { return e.what == what; }));
}

} // namespace

namespace {

void send_in_another_process(std::size_t ints) {
    const DeviceSession session;
    const Keys keys({ALWAYS_DIRECT});
    PipelineSide side(keys.get());
    connect_with_parent(side);
    // Another program, in the same process.
    (void)signal(SIGUSR1, [](int) {
        (void)fcntl(from_peer, F_SETFD, FD_CLOEXEC); // what the parent hears then ends
        execl("/bin/sleep", "sleep", "60", static_cast<char *>(nullptr));
        _exit(127);
    });
    go_on(side, true, ints);
}

} // namespace

TEST_CASE("sends in another process", "[.]") {
    send_in_another_process(large);
}

TEST_CASE("sends much in another process", "[.]") {
    send_in_another_process(very_large);
}

DEVICE_TEST("receives in another process", "[.]") {
    const Keys keys({ALWAYS_DIRECT});
    PipelineSide side(keys.get());
    connect_with_parent(side);
    begin(side, false);
    progress_until(side, [] { return false; }); // receives no more
}

TEST_CASE("data is read from another process, whose death, or next program, ends the receive") {
    const auto [steps, end] = GENERATE(
        table<int, int>({{0, SIGKILL}, {1, SIGUSR1}, {5, SIGKILL}, {20, SIGKILL}, {5, SIGUSR1}}));
    const DeviceSession session;
    const Keys keys({ALWAYS_DIRECT});
    PipelineSide own(keys.get());
    Peer peer(own, "sends much in another process");
    begin(own, false);
    own.events.clear();
    Strided out(very_large);
    Outcome received;
    REQUIRE(start_receive(own, out, received) == UCD_SUCCESS);
    progress_until(own, [&] { return count(own, UCD_UCX_EVENT__UNPACK_BEGIN) > 0; });
    for (int i = 0; i < steps; ++i) ucd_ucx_progress(own.pipeline);
    REQUIRE_FALSE(received.done());
    peer.kill_it(end);
    if (end == SIGKILL)
        (void)peer.end();
    else
        (void)peer.hear();
    progress_until(own, [&] { return received.done(); });
    if (received.result.status != own.lost || own.lost == UCS_OK) // UCX may notice it first
        CHECK(received.result.status == UCS_ERR_CONNECTION_RESET);
    own.lose_endpoint();
    own.close_endpoint();
}

DEVICE_TEST("the end of a sender's process is told though there was no memory to tell it") {
    const Keys keys({ALWAYS_DIRECT});
    std::size_t failures = 0;
    for (std::size_t n = 1; n <= 12; ++n) {
        PipelineSide own(keys.get());
        Peer peer(own, "sends in another process");
        begin(own, false);
        for (int i = 0; i < 20; ++i) { // the next one is offered, and no receive takes it
            ucd_ucx_progress(own.pipeline);
            ::usleep(1000);
        }
        peer.kill_it();
        (void)peer.end();
        fail_allocation(n);
        ucd_ucx_progress(own.pipeline);
        const bool all = end_failing();
        failures += !all;
        Strided out(large);
        Outcome received;
        REQUIRE(start_receive(own, out, received) == UCD_SUCCESS);
        progress_until(own, [&] { return received.done(); });
        CHECK(received.result.status == UCS_ERR_CONNECTION_RESET);
        own.lose_endpoint();
        own.close_endpoint();
        if (all) break;
    }
    CHECK(failures > 0);
}

DEVICE_TEST("a sender whose offer was not taken is told that the receiver's process has ended") {
    const Keys keys({ALWAYS_DIRECT});
    PipelineSide own(keys.get());
    Peer peer(own, "receives in another process");
    // Without that, as over shared memory, UCX ends no message to a process that has ended.
    if (!own.can_fail) return;
    begin(own, true);
    own.events.clear();
    MappableStrided in(large);
    Outcome sent;
    REQUIRE(start_send(own, in, sent) == UCD_SUCCESS);
    REQUIRE(has_offered_directly(own));
    for (int i = 0; i < 100; ++i) ucd_ucx_progress(own.pipeline);
    REQUIRE_FALSE(sent.done());
    peer.kill_it();
    progress_until(own, [&] { return sent.done() || !own.unresponsive.empty(); });
    if (!sent.done()) { // UCX still has the offer, until the endpoint is closed
        CHECK(own.unresponsive.front() == own.ep);
        own.lose_endpoint();
        own.close_endpoint();
        progress_until(own, [&] { return sent.done(); });
    }
    CHECK(sent.result.status != UCS_OK); // what this library or UCX noticed first
}

} // namespace direct_processes_test
