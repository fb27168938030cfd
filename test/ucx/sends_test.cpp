// Transfers whose messages UCX refuses, or takes its time to send; and how many of them there are.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "engine/device_queue.h"
#include "support/device_test.hpp"
#include "support/fake_device/fake_driver.h"
#include "ucx/attacker.hpp"
#include "ucx/direct_pair.hpp"
#include "ucx/rma_pair.hpp"
#include "ucx/ucx_sends.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace sends_test {

using namespace ucdtest;
using Fate = UcxSends::Fate;

namespace {

int send_active(Side &side, Strided &what, Outcome &o, const std::string &header = "h") {
    const ucd_ucx_param_t p = o.param();
    const int rc = ucd_ucx_am_send_nbx(side.pipeline, side.ep, 1, header.data(), header.size(),
                                       what.data(), 1, what.type(), &p, &o.request);
    if (rc == UCD_SUCCESS) o.started();
    return rc;
}

void cancel(TwoSides &sides, Side &side, Outcome &o) {
    REQUIRE(ucd_ucx_cancel(side.pipeline, o.request) == UCD_SUCCESS);
    sides.until([&] { return o.done(); });
}

} // namespace

DEVICE_TEST("a send whose first message UCX refuses has not begun") {
    TwoSides sides(SMALL_CHUNKS);
    const struct {
        ucs_status_t failure;
        int code;
    } failures[] = {{UCS_ERR_CONNECTION_RESET, UCD_ERR__DEVICE},
                    {UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM}};
    for (const auto &[failure, code] : failures) {
        for (const std::size_t ints : {4, 5000}) {
            for (const bool tagged : {true, false}) {
                INFO(ucs_status_string(failure) << ", " << ints << ", tagged: " << tagged);
                Strided in(ints), out(ints);
                Outcome sent, received;
                {
                    UcxSends sends(sides.a.ep);
                    sends.status = failure;
                    sends.next = {Fate::ended};
                    CHECK((tagged ? start_send(sides.a, in, sent)
                                  : send_active(sides.a, in, sent)) == code);
                    CHECK(sent.request == UCD_UCX_REQUEST__NULL);
                    CHECK(sends.calls.size() == 1); // nothing goes behind it
                }
                if (!tagged) continue;
                REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
                for (int i = 0; i < 20; ++i) sides.progress();
                CHECK_FALSE(received.done());
                cancel(sides, sides.b, received);
            }
        }
    }
    check_usable(sides);
}

DEVICE_TEST("a transfer whose chunk UCX does not send ends at both sides") {
    for (const bool at_once : {true, false}) {
        TwoSides sides(SMALL_CHUNKS);
        Strided in(5000), out(5000);
        Outcome sent, received;
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        {
            UcxSends sends(sides.a.ep);
            sends.status = UCS_ERR_REJECTED;
            // What announces it, a chunk, and one that fails.
            const Fate last = at_once ? Fate::ended : Fate::held;
            sends.next = {Fate::sent, Fate::sent, Fate::sent, last};
            REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
            sides.until([&] { return sends.next.empty(); });
            if (!at_once) {
                for (int i = 0; i < 20; ++i) sides.progress();
                CHECK_FALSE(sent.done());
                sends.end_held(UCS_ERR_REJECTED);
            }
            sides.until([&] { return sent.done() && received.done(); });
        }
        CHECK(sent.result.status == UCS_ERR_REJECTED);
        CHECK(received.result.status == UCS_ERR_REJECTED);
        check_usable(sides);
    }
}

// One offer comes by rendezvous, the other without it, so that it looks taken; and a chunk seems to
// prove that the sender has the answer.
DEVICE_TEST("a hostile sender cannot make a receiver answer before a receive has matched") {
    TwoSides sides(SMALL_CHUNKS);
    Attacker attacker(sides.b.address(), [&] { sides.progress(); });
    wire::Message m = attacker.new_message(wire::offer, 4000);
    attacker.active(m);
    m.kind = wire::route;
    m.status = wire::route_status(wire::host_route);
    attacker.active_by_rendezvous(m, std::string(8, 'r'));
    m.status = wire::route_status(wire::ring_route);
    m.user_header = wire::ring_place(std::string(wire::ring_handle_bytes, 'h'), 0, 0);
    attacker.active(m, std::string(8, 'r'));
    attacker.progress(20);
    {
        UcxSends sends(sides.a.ep);
        sends.fetched = UCS_ERR_CONNECTION_RESET;
        m.kind = wire::chunk;
        m.status = 0;
        m.user_header.clear();
        attacker.active(m, std::string(1000, 'd'));
        attacker.progress(50);
        CHECK(sends.fetches == 0);
    }
    check_usable(sides);
}

// Chunks that UCX sends by rendezvous, and the receiver fetches.
DEVICE_TEST("a receive whose data UCX does not fetch fails with UCX's status") {
    TwoSides sides({{"ucd.ucx.chunk", "100000"}, {"ucd.ucx.pack", "chunk"}});
    for (const bool later : {false, true}) {
        Strided in(200000), out(200000);
        Outcome sent, received;
        {
            UcxSends sends;
            (later ? sends.fetched_later : sends.fetched) = UCS_ERR_CONNECTION_RESET;
            REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
            REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
            sides.until([&] { return sent.done() && received.done(); });
            CHECK(sends.fetches > 0);
        }
        CHECK(received.result.status == UCS_ERR_CONNECTION_RESET);
        CHECK(received.result.bytes == 0);
    }
    check_usable(sides);
}

DEVICE_TEST("nothing is fetched from an endpoint that was lost while its data was read directly") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    MappableStrided in(2 << 20); // many steps
    Strided out(2 << 20);
    Outcome sent, received;
    ok(start_receive(sides.b, out, received), "receive");
    ok(start_send(sides.a, in, sent), "send");
    sides.b.events.clear();
    sides.until([&] {
        return std::any_of(sides.b.events.begin(), sides.b.events.end(), [](const auto &event) {
            return event.what == UCD_UCX_EVENT__UNPACK_BEGIN;
        });
    });
    REQUIRE_FALSE(received.done());
    {
        UcxSends sends;
        sends.fetched = UCS_ERR_CONNECTION_RESET;
        sides.b.lose_endpoint();
        sides.until([&] { return received.done(); });
        CHECK(sends.fetches == 0);
    }
    CHECK(received.result.status == UCS_ERR_CONNECTION_RESET);
    sides.until([&] { return sent.done(); }); // its offer was dropped
}

DEVICE_TEST("a sender says nothing to a receiver whose process has ended") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    MappableStrided in(5000);
    Outcome sent;
    ok(start_send(sides.a, in, sent), "send");
    REQUIRE(has_offered_directly(sides.a));
    {
        const UcxSends sends(sides.a.ep);
        sides.a.pipeline->transfers.on_link_ended(sides.a.ep, true);
        for (int i = 0; i < 20; ++i) sides.progress();
        CHECK(sends.calls.empty());
    }
    CHECK_FALSE(sent.done()); // UCX still has the offer
    CHECK(sides.a.unresponsive == std::vector{sides.a.ep});
    for (Side *side : {&sides.a, &sides.b}) side->lose_endpoint();
    sides.until([&] { return sent.done(); });
    CHECK(sent.result.status == UCS_ERR_CONNECTION_RESET);
}

DEVICE_TEST("as many chunks are under way as the window has, and not one more") {
    const bool in_chunks = GENERATE(true, false);
    TwoSides sides({{"ucd.ucx.eager", "64"},
                    {"ucd.ucx.chunk", "1000"},
                    {"ucd.ucx.depth", "3"},
                    {"ucd.ucx.pack", in_chunks ? "chunk" : "ucx"}});
    Strided in(5000);
    Outcome sent;
    {
        UcxSends sends(sides.a.ep);
        sends.next = {Fate::sent, Fate::sent}; // they announce it
        sends.rest = Fate::held;
        REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
        for (int i = 0; i < 50; ++i) sides.progress();
        CHECK(sends.held() == 3);
        CHECK(sides.a.memory.most == (in_chunks ? 3 : 0));
        sends.rest = Fate::ended;
        sends.end_held(UCS_ERR_REJECTED);
        sides.until([&] { return sent.done(); });
    }
    Outcome received;
    Strided out(5000);
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    for (int i = 0; i < 50; ++i) sides.progress();
    cancel(sides, sides.b, received); // the announcement is there, and its end was refused, too
    check_usable(sides);
}

DEVICE_TEST("progress says whether anything moved") {
    TwoSides sides(SMALL_CHUNKS);
    const auto idle = [&] {
        for (int i = 0; i < 1000; ++i)
            if (ucd_ucx_progress(sides.a.pipeline) == 0) return true;
        return false;
    };
    CHECK(idle());
    // Nobody receives it: all of it has been given to UCX.
    Strided in(700), out(700);
    Outcome sent, received;
    REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
    ucd_ucx_object &pipeline = *sides.a.pipeline;
    {
        const std::lock_guard held(pipeline.engine.lock);
        for (int chunk = 0; chunk < 3; ++chunk) CHECK(pipeline.transfers.advance());
        CHECK_FALSE(pipeline.transfers.advance()); // that was all
    }
    CHECK(idle());
    CHECK(idle());
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && received.done(); });
    CHECK(out.received_from(in));
    // One that UCX has and that is over but for UCX.
    {
        UcxSends sends(sides.a.ep);
        sends.rest = Fate::held;
        Strided small(4);
        Outcome last;
        REQUIRE(start_send(sides.a, small, last) == UCD_SUCCESS);
        CHECK(idle());
        const std::lock_guard held(pipeline.engine.lock);
        CHECK_FALSE(pipeline.transfers.advance());
        sends.end_held(UCS_OK);
    }
    CHECK(idle());
    // The end of a transfer counts, and so does a message for the program.
    {
        UcxSends sends(sides.a.ep);
        sends.rest = Fate::held;
        Strided small(4);
        Outcome last;
        REQUIRE(start_send(sides.a, small, last) == UCD_SUCCESS);
        sends.end_held(UCS_OK);
        const std::lock_guard held(pipeline.engine.lock);
        CHECK(pipeline.engine.events.handle_all());
        CHECK(pipeline.transfers.advance());
        CHECK_FALSE(pipeline.transfers.advance());
    }
    CHECK(idle());
    Strided small(4);
    Outcome of_message;
    REQUIRE(send_active(sides.a, small, of_message) == UCD_SUCCESS);
    ucd_ucx_object &receiver = *sides.b.pipeline;
    REQUIRE(within(
        5, [&] { (void)ucp_worker_progress(sides.b.worker); },
        [&] {
            const std::lock_guard held(receiver.engine.lock);
            return receiver.engine.events.handle_all();
        }));
    const std::lock_guard held(receiver.engine.lock);
    CHECK(receiver.transfers.advance());
    CHECK_FALSE(receiver.transfers.advance());
}

DEVICE_TEST("a transfer is not offered directly if its type could not be sent") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    MappableStrided in(777); // a type that has not been sent yet
    Outcome sent;
    {
        UcxSends sends(sides.a.ep);
        sends.status = UCS_ERR_REJECTED;
        // What announces it, and the type.
        sends.next = {Fate::sent, Fate::sent, Fate::ended};
        const int rc = start_send(sides.a, in, sent);
        CHECK(sends.calls.size() == 3);
        if (rc == UCD_SUCCESS) {
            sides.until([&] { return sent.done(); });
            CHECK(sent.result.status == UCS_ERR_REJECTED);
        }
        CHECK_FALSE(has_offered_directly(sides.a));
    }
    check_usable(sides);
}

DEVICE_TEST("endpoints that were lost leave nothing behind") {
    TwoSides sides(SMALL_CHUNKS);
    char places[1000]; // stand for endpoints
    std::ptrdiff_t live = 0;
    for (std::size_t i = 0; i < sizeof places; ++i) {
        if (i == 10) live = live_allocations();
        ok(ucd_ucx_lose_endpoint(sides.a.pipeline, reinterpret_cast<ucp_ep_h>(&places[i]),
                                 UCS_ERR_CONNECTION_RESET),
           "lose");
        sides.progress();
    }
    CHECK(live_allocations() <= live + 5);
    check_usable(sides);
}

DEVICE_TEST("progress of one-sided operations says whether anything moved") {
    // Of several threads: messages are handled behind UCX's progress.
    RmaPair pair({}, UCS_THREAD_MODE_MULTI);
    int memory = 1;
    const int value = 2;
    const Window window(pair.b, &memory, sizeof memory);
    pair.flush();
    for (int i = 0; i < 100; ++i) pair.progress();
    ucd_ucx_request_t put;
    ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), &value, 1, UCD_TYPE__INT, window.key(), 0, 1,
                       UCD_TYPE__INT, nullptr, &put),
       "put");
    ucd_ucx_request_free(put);
    unsigned moved = 0;
    while (memory == 1) {
        (void)ucd_ucx_progress(pair.a.rma);
        moved = ucd_ucx_progress(pair.b.rma);
    }
    CHECK(moved > 0);
    CHECK(moved < 100);
    pair.flush();
}

DEVICE_TEST("a program may have been built with a later header, of whose members it uses none") {
    TwoSides sides(SMALL_CHUNKS);
    struct {
        ucd_ucx_param_t known;
        char more[100000];
    } later;
    std::memset(&later, 0, sizeof later);
    Strided in(700), out(700);
    Outcome sent, received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    later.known = sent.param();
    later.known.struct_size = sizeof later;
    for (char &byte : {std::ref(later.more[0]), std::ref(later.more[sizeof later.more - 1])}) {
        byte = 1;
        CHECK(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.data(), 1, in.type(), 1,
                               &later.known, &sent.request) == UCD_ERR__INVALID_ARG);
        byte = 0;
    }
    REQUIRE(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.data(), 1, in.type(), 1, &later.known,
                             &sent.request) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && received.done(); });
    CHECK(sent.result.status == UCS_OK);
    CHECK(out.received_from(in));
}

DEVICE_TEST("progress does not wait for a device") {
    TwoSides sides(SMALL_CHUNKS);
    constexpr std::size_t bytes = 3000;
    void *memory = mock::allocate(ucd::MemoryKind::device, 0, bytes);
    std::vector<char> from(bytes, 'f'), to(bytes, 't');
    mock::write(memory, from.data(), bytes);
    Outcome sent, received;
    start_receive(sides.b, {to.data(), bytes, UCD_TYPE__BYTE}, received, 1, UCD_INFO__NULL, 1);
    mock::hold();
    start_send(sides.a, {memory, bytes, UCD_TYPE__BYTE}, sent);
    for (int i = 0; i < 20; ++i) sides.progress();
    CHECK_FALSE(sent.done());
    mock::let_go();
    sides.until([&] { return sent.done() && received.done(); });
    mock::release(memory);
    CHECK(to == from);
}

DEVICE_TEST("headers of active messages are as long as the worker's less 64") {
    TwoSides sides(SMALL_CHUNKS);
    ucp_worker_attr_t attributes = {};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    ucx(ucp_worker_query(sides.a.worker, &attributes), "ucp_worker_query");
    const std::size_t most = attributes.max_am_header - 64;
    Told told(sides.b);
    Outcome sent, refused;
    const ucd_ucx_param_t p = sent.param();
    std::string header(most + 1, 'h');
    const auto send = [&](std::size_t bytes, Outcome &o) {
        const int rc = ucd_ucx_am_send_nbx(sides.a.pipeline, sides.a.ep, 1, header.data(), bytes,
                                           nullptr, 0, UCD_TYPE__BYTE, &p, &o.request);
        if (rc == UCD_SUCCESS) o.started();
        return rc;
    };
    {
        const UcxSends sends;
        CHECK(send(most + 1, refused) == UCD_ERR__INVALID_ARG);
        CHECK(sends.calls.empty());
    }
    REQUIRE(send(most, sent) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && told.times > 0; });
    CHECK(told.header == header.substr(1));
}

DEVICE_TEST("what a long transfer has received is not charged to its sender any more") {
    // Chunks whose table entries would exceed it all together.
    TwoSides sides(
        {{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "64"}, {"ucd.ucx.peer_memory", "1048576"}});
    Strided in(80000), out(80000);
    Outcome sent, received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && received.done(); });
    CHECK(sent.result.status == UCS_OK);
    CHECK(received.result.status == UCS_OK);
    CHECK(out.received_from(in));
}

// One-sided messages by themselves ----------------------------------------

namespace {

using namespace ucd_ucx;
using namespace ucd_ucx::rma;

} // namespace

DEVICE_TEST("an answer whose data cannot be packed leaves nothing to be sent") {
    Side one, other;
    one.connect(other.address());
    ucd_ucx_params_t params = {};
    params.am_id = 9;
    params.families = UCD_UCX_ONE_SIDED;
    ucd_ucx_object rma(params, {});
    REQUIRE(rma.engine.open(one.worker).ok());
    Ledger &ledger = rma.engine.ledger;
    ShortMessages &direct = rma.one_sided->messages;
    const auto gather = [&](const Encoded &answer_to_send, const ucd_ucx::Data &data) {
        bool refused;
        const ucd_ucx::Status status =
            direct.send_answer(one.ep, {answer_to_send, data, 10}, LedgerUse::message, &refused);
        CHECK_FALSE(refused);
        return status;
    };
    BufferHints host;
    REQUIRE(host.set("host", UCD_INFO__NULL, ucd_ucx::TransferDirection::send).ok());
    char bytes[16] = "some data";
    const ucd_ucx::Data good = {bytes, 10, UCD_TYPE__BYTE, &host},
                        bad = {bytes, 10, UCD_TYPE__NULL, &host};
    const Encoded answer(Answer{Verdict::done, UCD_SUCCESS, 1, 0});
    UcxSends sends;
    sends.rest = Fate::ended;
    sends.status = UCS_OK;
    CHECK_FALSE(gather(answer, bad).ok());
    CHECK(sends.calls.empty());
    direct.send_gathered();
    CHECK(gather(answer, good).ok()); // the first goes at once
    CHECK(sends.calls.size() == 1);
    CHECK_FALSE(gather(answer, bad).ok());
    direct.send_gathered();
    CHECK(sends.calls.size() == 1);
    CHECK(direct.unsent() == 0);
    // Between others it leaves no gap.
    for (const ucd_ucx::Data *data : {&good, &good, &bad, &good}) (void)gather(answer, *data);
    direct.send_gathered();
    REQUIRE(sends.calls.size() == 3);
    CHECK(sends.calls[1].count == answer.size() + 10);
    CHECK(sends.calls[2].count == Preamble::bytes + 2 * (length_bytes + answer.size() + 10));
    // One alone is no list of answers.
    for (int i = 0; i < 2; ++i) CHECK(gather(answer, good).ok());
    direct.send_gathered();
    REQUIRE(sends.calls.size() == 5);
    CHECK(sends.calls[4].count == answer.size() + 10);
    CHECK(ledger.bytes() == 0);
}

} // namespace sends_test
