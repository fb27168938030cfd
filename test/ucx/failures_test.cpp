// Failures in the middle of something else: a message that is being received, events that wait,
// callbacks of the user. What has failed is not used again.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/strided.hpp"
#include "ucx/ucx_sends.hpp"

#include <new>
#include <string>
#include <utility>
#include <vector>

namespace failures_test {

using namespace ucdtest;

namespace {

// A user's message of 4000 bytes whose sender offers all three routes.
struct Offered {
    TwoSides sides{SMALL_CHUNKS};
    Attacker attacker{sides.b.address(), [this] { sides.progress(); }};
    Told told{sides.b};
    wire::Message m = attacker.new_message(wire::user_offer, 4000);

    Offered() {
        m.user_id = 1;
        attacker.active(m);
        m.kind = wire::route;
        for (const unsigned route : {0U, 1U, 2U}) {
            m.status = wire::route_status(route, 7);
            m.user_header.clear();
            if (route == wire::ring_route)
                m.user_header = wire::ring_place(std::string(wire::ring_handle_bytes, 'h'), 0, 0);
            attacker.active_by_rendezvous(m, std::string(8, '\0'));
        }
        REQUIRE(attacker.within(5, [&] { return told.times > 0; }));
        attacker.progress(50);
        m.kind = wire::chunk;
        m.status = 0;
        m.user_header.clear();
    }
};

// An event that finds no memory once.
struct PoorEvent final : ucd_ucx::Event {
    ucd_ucx::EventQueue &events;
    bool fails = false;
    int handled = 0;
    explicit PoorEvent(ucd_ucx::EventQueue &queue) : events(queue) {}
    void on_complete() override {
        if (std::exchange(fails, false)) {
            events.put_back(*this);
            throw std::bad_alloc();
        }
        ++handled;
    }
};

} // namespace

// A chunk proves that the sender knows the answer, so the offers that were not chosen are fetched.
DEVICE_TEST("a receive fails if UCX does not fetch the offers behind the answer") {
    for (const bool later : {false, true}) {
        Offered o;
        std::vector<char> out(4000);
        Outcome received;
        start_receive_active(o.sides.b, o.told.data, {out.data(), out.size(), UCD_TYPE__BYTE},
                             received);
        o.attacker.progress(50);
        UcxSends sends;
        (later ? sends.fetched_later : sends.fetched) = UCS_ERR_NO_MEMORY;
        for (o.m.offset = 0; o.m.offset < 4000; o.m.offset += 1000)
            o.attacker.active(o.m, std::string(1000, 'd'));
        REQUIRE(o.attacker.within(5, [&] { return received.done(); }));
        CHECK(received.result.status == UCS_ERR_NO_MEMORY);
        CHECK(sends.fetches == (later ? 2U : 1U));
        REQUIRE(o.attacker.within(5, [&] { return o.attacker.unfinished() == 0; }));
        // All of the message has come or was dropped, so nothing of it is left.
        CHECK(o.sides.b.pipeline->engine.ledger.bytes() == 0);
    }
}

// Between two calls of progress, a program may lose an endpoint, close it, and get another one at
// the same address.
DEVICE_TEST("what is sent after an endpoint was lost has a new stream") {
    for (const bool tagged : {true, false}) {
        TwoSides sides(SMALL_CHUNKS);
        const Told told(sides.b, true);
        std::vector<std::uint64_t> streams;
        Strided in(5000), out(5000);
        Outcome sent[2], received[2];
        for (const int i : {0, 1}) {
            sides.a.events.clear();
            if (tagged) {
                REQUIRE(start_receive(sides.b, out, received[i]) == UCD_SUCCESS);
                REQUIRE(start_send(sides.a, in, sent[i]) == UCD_SUCCESS);
            } else {
                start_active(sides.a, {in.data(), 1, in.type()}, sent[i]);
            }
            for (int round = 0; round < 20; ++round) ucd_ucx_progress(sides.a.pipeline);
            REQUIRE_FALSE(sides.a.events.empty());
            streams.push_back(sides.a.events.back().sender);
            sides.a.lose_endpoint();
        }
        CHECK(streams[0] != streams[1]);
        sides.until([&] { return sent[0].done() && sent[1].done(); });
        for (const Outcome &o : received)
            if (tagged) REQUIRE(ucd_ucx_cancel(sides.b.pipeline, o.request) == UCD_SUCCESS);
        sides.until([&] { return !tagged || (received[0].done() && received[1].done()); });
    }
}

// The same holds for a flush.
DEVICE_TEST("a flush does not wait for what was started before an endpoint was lost") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    const char byte = 'b';
    Outcome put;
    start_put(target.a, {&byte, 1, UCD_TYPE__BYTE}, {&key, 0, 1, UCD_TYPE__BYTE}, put);
    (void)target.hand.next_said(); // it is not answered
    target.a.lose_endpoint();
    ucd_ucx_request_t flush = UCD_UCX_REQUEST__NULL;
    ok(ucd_ucx_flush_nbx(target.a.rma, target.a.ep(), nullptr, &flush), "flush");
    CHECK(flush == UCD_UCX_REQUEST__NULL);
    REQUIRE(target.hand.within(5, [&] { return put.done(); }));
    CHECK(put.result.status != UCS_OK);
    ucd_ucx_request_free(flush);
}

DEVICE_TEST("a receive takes nothing from an endpoint that was lost just before") {
    Offered o;
    o.sides.b.lose_endpoint(o.told.reply_ep);
    UcxSends sends;
    sends.fetched = UCS_ERR_NO_MEMORY;
    std::vector<char> out(4000);
    Outcome received;
    start_receive_active(o.sides.b, o.told.data, {out.data(), out.size(), UCD_TYPE__BYTE},
                         received);
    o.sides.until([&] { return received.done(); });
    CHECK(sends.fetches == 0);
    CHECK(received.result.status == UCS_ERR_CONNECTION_RESET);
}

// Then failures of endpoints are forgotten, which are about events that came before them.
TEST_CASE("all events that wait are handled, those after one that had no memory, too") {
    ucd_ucx::EventQueue events;
    PoorEvent first(events), second(events), third(events);
    first.fails = true;
    events.put(first);
    events.put(second);
    CHECK_THROWS_AS(events.handle_all(), std::bad_alloc);
    events.put(third);
    CHECK(events.handle_all());
    for (const PoorEvent *event : {&first, &second, &third}) CHECK(event->handled == 1);
    CHECK_FALSE(events.handle_all());
}

// The program may have closed it there.
DEVICE_TEST("an endpoint that a callback has lost is not called unresponsive any more") {
    for (const bool loses : {false, true}) {
        TwoSides sides(SMALL_CHUNKS);
        Strided out(1000);
        ucd_ucx_request_t request;
        ucd_ucx_param_t param = {};
        param.struct_size = sizeof param;
        if (loses) param.user_data = &sides.a;
        param.callback = [](ucd_ucx_request_t, const ucd_ucx_result_t *, void *side) {
            if (side != nullptr) static_cast<Side *>(side)->lose_endpoint();
        };
        ok(ucd_ucx_recv_nbx(sides.a.pipeline, out.data(), 1, out.type(), 1, UINT64_MAX, &param,
                            &request),
           "receive");
        ok(ucd_ucx_cancel(sides.a.pipeline, request), "cancel");
        sides.a.pipeline->engine.report_unresponsive(sides.a.ep);
        sides.until([&] { return ucd_ucx_request_check(request, nullptr) != UCS_INPROGRESS; });
        sides.progress();
        ucd_ucx_request_free(request);
        CHECK(sides.a.unresponsive.size() == (loses ? 0U : 1U));
    }
}

// The program may have freed what the handler needs, and closed the endpoint.
DEVICE_TEST("a handler is not called any more that it replaces, nor with what it loses") {
    enum class Does { ends, replaces, loses };
    struct Receiver {
        const Does does;
        TwoSides sides{{}, UCS_THREAD_MODE_SINGLE};
        std::vector<unsigned> first = {}, second = {};
        std::vector<ucp_ep_h> reply_eps = {};
        static void take(void *arg, unsigned id, const void *, size_t, ucd_ucx_data_t data,
                         uint64_t, ucp_ep_h reply_ep) {
            auto &self = *static_cast<Receiver *>(arg);
            Side &side = self.sides.b;
            self.first.push_back(id);
            self.reply_eps.push_back(reply_ep);
            ok(ucd_ucx_am_drop(side.pipeline, data), "drop");
            if (id != 1) return;
            if (self.does == Does::loses) return side.lose_endpoint(reply_ep);
            ok(ucd_ucx_am_set_handler(side.pipeline, self.does == Does::ends ? nullptr : take_next,
                                      arg),
               "ucd_ucx_am_set_handler");
        }
        static void take_next(void *arg, unsigned id, const void *, size_t, ucd_ucx_data_t data,
                              uint64_t, ucp_ep_h) {
            auto &self = *static_cast<Receiver *>(arg);
            self.second.push_back(id);
            ok(ucd_ucx_am_drop(self.sides.b.pipeline, data), "drop");
        }
    };
    for (const Does does : {Does::ends, Does::replaces, Does::loses}) {
        Receiver receiver{does};
        TwoSides &sides = receiver.sides;
        ok(ucd_ucx_am_set_handler(sides.b.pipeline, Receiver::take, &receiver), "set_handler");
        const char byte = 'b';
        Outcome sent[4];
        for (const unsigned id : {1U, 2U, 3U, 4U})
            start_active(sides.a, {&byte, 1, UCD_TYPE__BYTE}, sent[id - 1], "h", id);
        // All have come before the receiver tells of one.
        for (int round = 0; round < 200; ++round) {
            ucd_ucx_progress(sides.a.pipeline);
            ucp_worker_progress(sides.b.worker);
        }
        sides.until([&] { return !receiver.first.empty() && sent[3].done(); });
        for (int round = 0; round < 20; ++round) sides.progress();
        const std::vector<unsigned> later = {2, 3, 4}, all = {1, 2, 3, 4}, none;
        CHECK(receiver.first == (does == Does::loses ? all : std::vector<unsigned>{1}));
        CHECK(receiver.second == (does == Does::replaces ? later : none));
        REQUIRE(receiver.reply_eps.front() != nullptr);
        for (std::size_t i = 1; i < receiver.reply_eps.size(); ++i)
            CHECK(receiver.reply_eps[i] == nullptr);
        CHECK(sides.b.pipeline->engine.ledger.bytes() == 0);
    }
}

DEVICE_TEST("a peer that is barred is not sent the rest of what it gets") {
    HandOrigin origin(SMALL_CHUNKS, 100'000);
    UcxSends sends(origin.b.ep());
    sends.next.assign(4, UcxSends::Fate::sent);
    sends.rest = UcxSends::Fate::held;
    origin.request.verb = wire::get;
    origin.request.count = 100'000;
    origin.hand.request(origin.request);
    REQUIRE(origin.hand.within(5, [&] { return sends.held() > 0; }));
    origin.hand.progress(20);
    const std::size_t sent = sends.calls.size();
    CHECK(sent < 20);
    ucd_ucx::Ledger &ledger = origin.b.rma->engine.ledger;
    CHECK_FALSE(ledger.take(origin.b.ep(), 1 << 30, ucd_ucx::LedgerUse::message));
    REQUIRE(origin.hand.within(5, [&] { return ledger.barred() == 1; }));
    sends.end_held(UCS_OK);
    origin.hand.progress(50);
    CHECK(sends.calls.size() == sent);
    CHECK(sends.held() == 0);
    sends.end_held(UCS_OK);
    CHECK(origin.b.rma->transfers.outstanding() == 0);
}

} // namespace failures_test
