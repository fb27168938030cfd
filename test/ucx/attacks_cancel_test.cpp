// Transfers that a user cancels, or a sender withdraws, after they have matched.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/strided.hpp"

namespace attacks_cancel_test {

using namespace ucdtest;

namespace {

// A receive of a side and the attacker's message that it matches.
struct Matched {
    TwoSides sides{SMALL_CHUNKS};
    bool only_ucx = false; // makes progress: what it has matched, the pipeline does not know yet
    Attacker attacker{sides.b.address(), [this] {
                          if (only_ucx)
                              ucp_worker_progress(sides.b.worker);
                          else
                              sides.progress();
                      }};
    Strided out{1000};
    Outcome received;
    wire::Message message;

    void start() {
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        message = attacker.open(out.bytes());
        attacker.progress(50);
        CHECK_FALSE(received.done());
    }
    void send_chunk(std::uint64_t offset, std::size_t bytes) {
        message.kind = wire::chunk;
        message.offset = offset;
        attacker.active(message, std::string(bytes, 'd'));
    }
    void cancel() { ok(ucd_ucx_cancel(sides.b.pipeline, received.request), "ucd_ucx_cancel"); }
};

} // namespace

DEVICE_TEST("a receive is cancelled after it has matched, and what comes late is dropped") {
    for (const bool with_chunk : {false, true}) {
        Matched matched;
        matched.start();
        if (with_chunk) matched.send_chunk(0, 1000);
        matched.attacker.progress(20);
        matched.cancel();
        CHECK(matched.attacker.within(5, [&] { return matched.received.done(); }));
        CHECK(matched.received.result.status == UCS_ERR_CANCELED);
        CHECK(matched.received.result.bytes == 0);
        matched.out.clear();
        matched.send_chunk(1000, 3000);
        matched.attacker.progress(50);
        CHECK(matched.out.is_clear());
        CHECK(matched.received.calls == 1);
        check_usable(matched.sides);
    }
}

DEVICE_TEST(
    "what comes for a receive that was cancelled is not charged while its device is at work") {
    TwoSides sides(
        {{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {"ucd.ucx.peer_memory", "1048576"}});
    Attacker attacker(sides.b.address(), [&] { sides.progress(); });
    constexpr std::uint64_t chunk = 8000, chunks = 200;
    void *const memory = mock::allocate(ucd::MemoryKind::device, 0, chunks * chunk);
    Outcome cancelled;
    start_receive(sides.b, {memory, chunks * chunk, UCD_TYPE__BYTE}, cancelled);
    wire::Message message;
    const auto begin = [&](std::uint64_t total) {
        message = attacker.open(total);
        attacker.progress(20);
        message.kind = wire::chunk;
    };
    mock::hold();
    begin(chunks * chunk);
    attacker.active(message, std::string(chunk, 'd'));
    // The device has the chunk, and does not begin.
    REQUIRE(attacker.within(5, [] { return mock::counts.launches + mock::counts.copies > 0; }));
    ok(ucd_ucx_cancel(sides.b.pipeline, cancelled.request), "ucd_ucx_cancel");
    for (std::uint64_t i = 1; i < chunks; ++i) {
        message.offset = i * chunk;
        attacker.active(message, std::string(chunk, 'd'));
    }
    attacker.progress(20);
    CHECK_FALSE(cancelled.done());
    mock::let_go();
    CHECK(attacker.within(5, [&] { return cancelled.done(); }));
    CHECK(cancelled.result.status == UCS_ERR_CANCELED);
    // More than a peer may keep here: it would be barred.
    Strided out(1000);
    Outcome received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    begin(out.bytes());
    attacker.active(message, std::string(out.bytes(), 'd'));
    CHECK(attacker.within(5, [&] { return received.done(); }));
    CHECK(received.result.status == UCS_OK);
    mock::release(memory);
}

DEVICE_TEST("a receive is cancelled when UCX has matched it and the pipeline does not know") {
    Matched matched;
    matched.only_ucx = true;
    matched.start();
    matched.cancel();
    matched.send_chunk(0, 4000);
    matched.only_ucx = false;
    CHECK(matched.attacker.within(5, [&] { return matched.received.done(); }));
    CHECK(matched.received.result.status == UCS_ERR_CANCELED);
    CHECK(matched.out.is_clear());
    matched.send_chunk(0, 4000);
    matched.attacker.progress(50);
    CHECK(matched.out.is_clear());
    CHECK(matched.received.calls == 1);
    check_usable(matched.sides);
}

DEVICE_TEST("a withdrawal's status is one of UCX's errors, or the message is invalid") {
    const auto status_of = [](int withdrawn) {
        return withdrawn > 0 && withdrawn < -int{UCS_ERR_LAST}
                   ? static_cast<ucs_status_t>(-withdrawn)
                   : UCS_ERR_INVALID_PARAM;
    };
    for (const int withdrawn : {0, 1, -int{UCS_ERR_NO_MEMORY}, -int{UCS_ERR_CANCELED},
                                -int{UCS_ERR_LAST} - 1, -int{UCS_ERR_LAST}, -int{UCS_ERR_LAST} + 1,
                                127, 128, 255, 256, 257, 32767, 32768, 65535}) {
        INFO("status " << withdrawn);
        Matched matched;
        matched.start();
        matched.message.kind = wire::withdraw;
        matched.message.status = static_cast<std::uint16_t>(withdrawn);
        matched.attacker.active(matched.message);
        CHECK(matched.attacker.within(5, [&] { return matched.received.done(); }));
        CHECK(matched.received.result.status == status_of(withdrawn));
        CHECK(matched.received.result.bytes == 0);
    }
}

} // namespace attacks_cancel_test
