// Peers that stop in the midst of a transfer or an operation, or never answer: it ends when the
// time is over that the program gave it, or when its endpoint is lost, and it ends once. Its memory
// is the program's again, and others go on.

#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/strided.hpp"

#include <algorithm>

namespace attacks_timeout_test {

using namespace ucdtest;

namespace {

// So long that a loaded machine does not reach it, after a time-out of one second.
constexpr double patience = 8;

// Where the time is said: for all transfers of a pipeline, or for one. 0 is no limit.
#define PIPELINE_KEYS(for_all)                                                                     \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {                                          \
        "ucd.ucx.timeout", (for_all) ? "1" : "0"                                                   \
    }

std::string said(ucs_status_t status) {
    return ucs_status_string(status);
}

} // namespace

// Transfers ---------------------------------------------------------------

DEVICE_TEST("a receive whose sender stops is ended in time") {
    for (const bool for_all : {true, false}) {
        TwoSides sides({PIPELINE_KEYS(for_all)});
        Attacker attacker(sides.b.address(), [&] { sides.progress(); });
        const Keys keys({{"ucd.ucx.timeout", "1"}});
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

// UCX may hold the send's memory, and then the endpoint is reported, once.
DEVICE_TEST("a send whose receiver fetches nothing is ended in time") {
    for (const bool for_all : {true, false}) {
        PipelineVictim victim({PIPELINE_KEYS(for_all)});
        Attacker &attacker = victim.attacker;
        attacker.fetches = false;
        Strided in(5000), out(5000);
        Outcome sent, received;
        // A receive that has timed out is complete, as nothing writes to its buffer.
        const Keys keys({{"ucd.ucx.timeout", "1"}});
        const ucd_info_t info = for_all ? UCD_INFO__NULL : keys.get();
        start_receive(victim.side, {out.data(), 1, out.type()}, received, 1, info);
        (void)attacker.open(out.bytes());
        CHECK(attacker.within(patience, [&] { return received.done(); }));
        CHECK(said(received.result.status) == said(UCS_ERR_TIMED_OUT));
        CHECK(victim.side.unresponsive.empty());
        start_send(victim.side, {in.data(), 1, in.type()}, sent, 1, info);
        CHECK(attacker.within(patience, [&] { return !victim.side.unresponsive.empty(); }));
        CHECK_FALSE(sent.done());
        (void)attacker.within(1.5, [] { return false; });
        CHECK(victim.side.unresponsive == std::vector<ucp_ep_h>{victim.side.ep});
        // It ends as soon as UCX gives the buffer back.
        CHECK(attacker.within(patience, [&] {
            attacker.release_data();
            return sent.done();
        }));
        CHECK(said(sent.result.status) == said(UCS_ERR_TIMED_OUT));
        CHECK(victim.side.unresponsive.size() == 1);
    }
}

DEVICE_TEST("transfers that move do not time out") {
    PipelineVictim victim({PIPELINE_KEYS(true)});
    Attacker &attacker = victim.attacker;
    Strided out(1000);
    Outcome received;
    REQUIRE(start_receive(victim.side, out, received) == UCD_SUCCESS);
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

TEST_CASE("a pipeline ends without memory, whatever has come for it") {
    const auto end_with_failure_at = [](std::size_t n) {
        Side victim;
        victim.gives_memory = false;
        victim.open_pipeline(UCD_INFO__NULL);
        bool ends = false;
        Attacker attacker(victim.address(), [&] {
            if (ends)
                ucp_worker_progress(victim.worker); // so that the pipeline has it yet to look at
            else
                ucd_ucx_progress(victim.pipeline);
        });
        const auto say = [&](wire::Kind kind, wire::Id id, std::size_t bytes) {
            wire::Message m;
            m.kind = kind;
            m.id = id;
            m.total = kind == wire::whole ? bytes : 100000;
            m.user_id = kind == wire::whole || kind == wire::user_offer;
            m.user_header = kind == wire::whole ? "header" : "";
            attacker.active(m, std::string(bytes, 'b'));
        };
        const wire::Id begun = attacker.new_id();
        say(wire::offer, begun, 0);
        attacker.progress(20);
        ends = true;
        for (int i = 0; i < 3; ++i) {
            say(wire::offer, attacker.new_id(), 0);
            say(wire::chunk, begun, 10);
            say(wire::chunk, attacker.new_id(), 10);
            say(wire::whole, attacker.new_id(), 10);
            say(wire::withdraw, begun, 0);
            say(wire::user_offer, attacker.new_id(), 0);
        }
        attacker.progress(20);
        if (n > 0) fail_allocation(n);
        const int rc = ucd_ucx_destroy(&victim.pipeline);
        const bool failed = n > 0 && !end_failing();
        CHECK(rc == UCD_SUCCESS);
        CHECK(victim.pipeline == nullptr);
        return failed;
    };
    (void)end_with_failure_at(0);
    const std::ptrdiff_t before = live_allocations();
    (void)end_with_failure_at(0);
    const std::ptrdiff_t usual = live_allocations() - before;
    CHECK(usual == 0);
    for (std::size_t n = 1; end_with_failure_at(n); ++n)
        if (n == 200) break;
    CHECK(live_allocations() == before);
}

// One-sided operations ----------------------------------------------------

namespace {

const ucd_ucx_window_key_t key = made_up_key();

void start_flush(ucd_ucx_t rma, ucp_ep_h ep, Outcome &o) {
    const ucd_ucx_param_t p = o.param();
    ok(ucd_ucx_flush_nbx(rma, ep, &p, &o.request), "ucd_ucx_flush_nbx");
    o.started();
}

// A target for which operations have a second.
struct SilentTarget : HandTarget {
    SilentTarget()
        : HandTarget(
              {{"ucd.ucx.timeout", "1"}, {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}}) {}
};

} // namespace

DEVICE_TEST("one-sided operations whose target does not answer end in time") {
    for (const std::size_t ints : {std::size_t{4}, std::size_t{2000}}) {
        SilentTarget pair;
        std::vector<std::unique_ptr<RmaTestOperation>> operations;
        for (const What what : every) {
            operations.push_back(std::make_unique<RmaTestOperation>(ints));
            ok(operations.back()->start(what, pair.a, &key, 0), "an operation");
        }
        Outcome flushed;
        start_flush(pair.a.rma, nullptr, flushed);
        const auto all_done = [&] {
            return flushed.done() && std::all_of(operations.begin(), operations.end(),
                                                 [](const auto &o) { return o->done(); });
        };
        CHECK_FALSE(pair.hand.within(0.5, all_done));
        CHECK(pair.hand.within(patience, all_done));
        for (const auto &o : operations) {
            CHECK(o->status() == UCS_ERR_TIMED_OUT);
            CHECK(o->o.calls == 1);
            CHECK(o->o.result.bytes == 0);
        }
        CHECK(flushed.result.status == UCS_ERR_TIMED_OUT);
        // The target has taken all data, so UCX holds no buffer.
        CHECK(pair.a.side.unresponsive.empty());
        // Answers that come too late change nothing.
        std::size_t asked = 0;
        while (pair.hand.has_said()) {
            const wire::Said said = pair.hand.next_said();
            const bool fetches = said.verb == wire::get || said.verb == wire::get_accumulate;
            pair.answer(said.number, wire::done,
                        std::string(fetches ? ints * sizeof(int) : 0, 'l'));
            ++asked;
        }
        CHECK(asked == operations.size());
        pair.hand.progress(50);
        for (const auto &o : operations) {
            CHECK(o->o.calls == 1);
            CHECK(std::count(o->out.begin(), o->out.end(), -1) == static_cast<long>(ints));
        }
        // The origin goes on.
        RmaTestOperation next(4);
        ok(next.start(What::put, pair.a, &key, 0), "put");
        pair.answer(pair.hand.next_said().number);
        CHECK(pair.hand.within(5, [&] { return next.done(); }));
        CHECK(next.status() == UCS_OK);
    }
}

DEVICE_TEST("the shortest time-out is one") {
    const Keys keys{{"ucd.ucx.timeout", "1.5e-9"}}; // a nanosecond
    SilentTarget pair;
    RmaTestOperation first(4), put(4);
    ok(first.start(What::put, pair.a, &key, 0), "put"); // connects the workers
    pair.answer(pair.hand.next_said().number);
    REQUIRE(pair.hand.within(5, [&] { return first.done(); }));
    start_put(pair.a, {put.in.data(), 4, UCD_TYPE__INT}, {&key, 0, 4, UCD_TYPE__INT}, put.o,
              keys.get());
    CHECK(pair.hand.within(patience, [&] { return put.done(); }));
    CHECK(put.status() == UCS_ERR_TIMED_OUT);
    CHECK(pair.hand.next_said().verb == wire::put);
}

DEVICE_TEST("an operation times out if its data stops, and not if it takes long") {
    SilentTarget pair;
    for (const bool stops : {false, true}) {
        RmaTestOperation get(1000);
        ok(get.start(What::get, pair.a, &key, 0), "get");
        wire::Message m = pair.hand.new_message(wire::user_offer, 4000);
        m.user_header = wire::preamble(wire::answer, pair.hand.next_said().number);
        pair.hand.active(m);
        m.kind = wire::chunk;
        m.user_header.clear();
        for (; m.offset < (stops ? 1000 : m.total); m.offset += 1000) {
            CHECK_FALSE(pair.hand.within(0.5, [&] { return get.done(); }));
            pair.hand.active(m, std::string(1000, 'd'));
        }
        CHECK(pair.hand.within(patience, [&] { return get.done(); }));
        CHECK(get.status() == (stops ? UCS_ERR_TIMED_OUT : UCS_OK));
    }
    CHECK(pair.a.side.unresponsive.empty()); // UCX holds no buffer
}

DEVICE_TEST("a target that does not fetch a put's data is reported to the origin's program") {
    SilentTarget pair;
    pair.hand.fetches = false;
    RmaTestOperation put(5000);
    ok(put.start(What::put, pair.a, &key, 0), "put");
    CHECK(pair.hand.within(patience, [&] { return !pair.a.side.unresponsive.empty(); }));
    CHECK_FALSE(put.done());
    for (ucp_ep_h ep : pair.a.side.unresponsive) CHECK(ep == pair.a.ep());
    CHECK(pair.hand.within(patience, [&] {
        pair.hand.release_data();
        return put.done();
    }));
    CHECK(put.status() == UCS_ERR_TIMED_OUT);
    CHECK(pair.a.side.unresponsive.size() == 1);
}

namespace {

// An operation that no target answers, which flushes when it ends.
struct Unanswered {
    ucd_ucx_t rma;
    ucp_ep_h ep;
    ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;
    int value = 1, calls = 0;
    Outcome one, all; // of flushes that are started when it ends

    Unanswered(ucd_ucx_t r, ucp_ep_h e) : rma(r), ep(e) {
        ucd_ucx_param_t p = {};
        p.struct_size = sizeof p;
        p.user_data = this;
        p.callback = [](ucd_ucx_request_t, const ucd_ucx_result_t *, void *self) {
            auto &u = *static_cast<Unanswered *>(self);
            if (u.calls++ > 0) return;
            start_flush(u.rma, u.ep, u.one);
            start_flush(u.rma, nullptr, u.all);
        };
        ok(ucd_ucx_put_nbx(rma, ep, &value, 1, UCD_TYPE__INT, &key, 0, 1, UCD_TYPE__INT, &p,
                           &request),
           "ucd_ucx_put_nbx");
    }
    ~Unanswered() { ucd_ucx_request_free(request); }
};

} // namespace

TEST_CASE("a flush over operations that end in one loss is complete once") {
    for (const int operations : {1, 2, 7}) {
        for (const int fences : {0, 1, 2}) {
            HandTarget target;
            RmaSide &origin = target.a;
            std::deque<Unanswered> puts;
            std::deque<Outcome> flushes;
            for (int i = 0; i < operations; ++i) {
                puts.emplace_back(origin.rma, origin.ep());
                start_flush(origin.rma, origin.ep(), flushes.emplace_back());
                start_flush(origin.rma, nullptr, flushes.emplace_back());
                if (i < fences) ok(ucd_ucx_fence(origin.rma, origin.ep()), "fence");
            }
            target.hand.progress(50);
            origin.lose_endpoint();
            CHECK(target.hand.within(3, [&] {
                return std::all_of(puts.begin(), puts.end(),
                                   [](const Unanswered &u) { return u.calls > 0; });
            }));
            target.hand.progress(50);
            for (const Unanswered &u : puts) {
                CHECK(u.calls == 1);
                CHECK(u.one.calls == 1);
                CHECK(u.all.calls == 1);
            }
            for (const Outcome &f : flushes) {
                CHECK(f.calls == 1);
                CHECK(f.result.status == UCS_ERR_CONNECTION_RESET);
            }
        }
    }
}

TEST_CASE("a get does not succeed with bytes that never came") {
    for (const auto &first : firsts) {
        INFO(first.name);
        HandTarget target;
        Attacker &attacker = target.hand;
        std::vector<char> to(claimed, 'x');
        Outcome o;
        start_get(target.a, {to.data(), claimed, UCD_TYPE__CHAR},
                  {&key, 0, claimed, UCD_TYPE__CHAR}, o);
        const auto is_untouched = [&] {
            return std::count(to.begin() + brought, to.end(), 'x') ==
                   static_cast<std::ptrdiff_t>(claimed - brought);
        };
        const wire::Said asked = attacker.next_said();
        REQUIRE(asked.verb == wire::get);
        disagree(attacker, first, wire::preamble(wire::answer, asked.number, wire::done), 0);
        CHECK_FALSE((o.done() && o.result.status == UCS_OK));
        CHECK(is_untouched());
        // One message, with fewer bytes.
        target.answer(asked.number, wire::done, std::string(brought, 's'));
        attacker.progress(50);
        CHECK_FALSE((o.done() && o.result.status == UCS_OK));
        target.a.close_endpoint();
        CHECK(attacker.within(2, [&] { return o.done(); }));
        CHECK(is_untouched());
    }
}

} // namespace attacks_timeout_test
