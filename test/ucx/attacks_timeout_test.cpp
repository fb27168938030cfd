// Peers that stop in the midst of a transfer: it ends when the time is over that the program gave
// it, its memory is the program's again, and other transfers go on.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/strided.hpp"

namespace attacks_timeout_test {

using namespace ucdtest;

namespace {

// So long that a loaded machine does not reach it, after a time-out of one second.
constexpr double patience = 8;

const std::pair<std::string, std::string> one_second = {"ucd.ucx.timeout", "1"};

// Where the time is said: for all transfers of a pipeline, or for one. 0 is no limit.
#define PIPELINE_KEYS(for_all)                                                                     \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {                                          \
        "ucd.ucx.timeout", (for_all) ? "1" : "0"                                                   \
    }

std::string said(ucs_status_t status) {
    return ucs_status_string(status);
}

} // namespace

DEVICE_TEST("a receive whose sender stops is ended in time") {
    for (const bool for_all : {true, false}) {
        TwoSides sides({PIPELINE_KEYS(for_all)});
        Attacker attacker(sides.b.address(), [&] { sides.progress(); });
        const Keys keys({one_second});
        const ucd_info_t info = for_all ? UCD_INFO__NULL : keys.get();
        Told told(sides.b);
        Strided tagged(1000), active(1000);
        tagged.clear();
        active.clear();
        Outcome of_tagged, of_active;
        start_receive(sides.b, {tagged.data(), 1, tagged.type()}, of_tagged, 1, info);
        wire::Message m = attacker.open(tagged.bytes()), users;
        users.id = attacker.new_id();
        users.total = m.total;
        users.user_id = 1;
        users.kind = wire::user_offer;
        attacker.active(users);
        m.kind = users.kind = wire::chunk;
        attacker.active(m, std::string(1000, 'd'));
        attacker.active(users, std::string(1000, 'd'));
        REQUIRE(attacker.within(5, [&] { return told.data != nullptr; }));
        start_receive_active(sides.b, told.data, {active.data(), 1, active.type()}, of_active,
                             info);
        (void)attacker.within(patience, [&] {
            Strided in(2000), out(2000); // another's transfer
            Outcome sent, received;
            REQUIRE(start_receive(sides.b, out, received, 99) == UCD_SUCCESS);
            REQUIRE(start_send(sides.a, in, sent, 99) == UCD_SUCCESS);
            sides.until([&] { return sent.done() && received.done(); });
            if (received.result.status != UCS_OK || !out.received_from(in))
                throw std::runtime_error("another's transfer failed");
            return of_tagged.done() && of_active.done();
        });
        for (Outcome *o : {&of_tagged, &of_active}) {
            CHECK(o->done());
            CHECK(said(o->result.status) == said(UCS_ERR_TIMED_OUT));
            CHECK(o->result.bytes == 0);
        }
        // What comes too late is dropped.
        tagged.clear();
        active.clear();
        m.offset = users.offset = 1000;
        attacker.active(m, std::string(3000, 'l'));
        attacker.active(users, std::string(3000, 'l'));
        attacker.progress(50);
        CHECK(tagged.is_clear());
        CHECK(active.is_clear());
        for (Outcome *o : {&of_tagged, &of_active})
            if (!o->done()) (void)ucd_ucx_cancel(sides.b.pipeline, o->request);
        (void)attacker.within(2, [&] { return of_tagged.done() && of_active.done(); });
        check_usable(sides);
    }
}

DEVICE_TEST("a send whose receiver fetches nothing is ended in time") {
    for (const bool for_all : {true, false}) {
        const Keys pipeline_info({PIPELINE_KEYS(for_all)});
        PipelineSide side(pipeline_info.get());
        Attacker attacker(side.address(), [&] { ucd_ucx_progress(side.pipeline); });
        side.connect(attacker.side.address());
        attacker.fetches = false;
        const Keys keys({one_second});
        Strided in(5000);
        Outcome sent;
        start_send(side, {in.data(), 1, in.type()}, sent, 1, for_all ? UCD_INFO__NULL : keys.get());
        // Until UCX has let go of the memory, which it may do only when the receiver is there
        // again.
        (void)attacker.within(3, [&] { return sent.done(); });
        (void)attacker.within(patience, [&] {
            attacker.release_data();
            return sent.done();
        });
        CHECK(sent.done());
        CHECK(said(sent.result.status) == said(UCS_ERR_TIMED_OUT));
        if (!sent.done()) (void)ucd_ucx_cancel(side.pipeline, sent.request);
        (void)attacker.within(2, [&] {
            attacker.release_data();
            return sent.done();
        });
        side.close_endpoint();
    }
}

DEVICE_TEST("an endpoint that holds the buffer of an overdue send is reported once") {
    const Keys info({PIPELINE_KEYS(true)});
    PipelineSide side(info.get());
    Attacker attacker(side.address(), [&] { ucd_ucx_progress(side.pipeline); });
    side.connect(attacker.side.address());
    attacker.fetches = false;
    Strided in(5000), out(5000);
    Outcome sent, received;
    // A receive that has timed out is complete, as nothing writes to its buffer.
    REQUIRE(start_receive(side, out, received) == UCD_SUCCESS);
    (void)attacker.open(out.bytes());
    CHECK(attacker.within(patience, [&] { return received.done(); }));
    CHECK(said(received.result.status) == said(UCS_ERR_TIMED_OUT));
    CHECK(side.unresponsive.empty());
    REQUIRE(start_send(side, in, sent) == UCD_SUCCESS);
    CHECK(attacker.within(patience, [&] { return !side.unresponsive.empty(); }));
    CHECK_FALSE(sent.done());
    (void)attacker.within(1.5, [] { return false; });
    CHECK(side.unresponsive == std::vector<ucp_ep_h>{side.ep});
    // It ends as soon as UCX gives the buffer back.
    CHECK(attacker.within(patience, [&] {
        attacker.release_data();
        return sent.done();
    }));
    CHECK(said(sent.result.status) == said(UCS_ERR_TIMED_OUT));
    CHECK(side.unresponsive.size() == 1);
    side.close_endpoint();
}

DEVICE_TEST("transfers that move do not time out") {
    TwoSides sides({PIPELINE_KEYS(true)});
    Attacker attacker(sides.b.address(), [&] { sides.progress(); });
    Strided out(1000);
    Outcome received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    wire::Message m = attacker.open(out.bytes());
    m.kind = wire::chunk;
    // Less often than the time-out in all, more often for each chunk.
    for (m.offset = 0; m.offset < m.total; m.offset += 1000) {
        (void)attacker.within(0.4, [] { return false; });
        CHECK_FALSE(received.done());
        attacker.active(m, std::string(1000, 'd'));
    }
    CHECK(attacker.within(2, [&] { return received.done(); }));
    CHECK(received.result.status == UCS_OK);
}

} // namespace attacks_timeout_test
