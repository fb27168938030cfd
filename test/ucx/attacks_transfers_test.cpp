// Transfers whose peer means no good: messages that bear another transfer's name, or one name more
// than once, that disagree about their lengths, or that come too late. They end no transfer but
// their own, and leave nothing behind that points to what is gone.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/strided.hpp"

namespace attacks_transfers_test {

using namespace ucdtest;

namespace {

// Ends a receive that nobody else can end.
void cancel_if_waiting(PipelineVictim &victim, Outcome &o) {
    if (!o.done()) REQUIRE(ucd_ucx_cancel(victim.side.pipeline, o.request) == UCD_SUCCESS);
}

} // namespace

// Names -------------------------------------------------------------------

DEVICE_TEST("two openings of one transfer match one receive") {
    constexpr int rounds = 5;
    for (const bool early : {true, false}) {
        PipelineVictim victim;
        Attacker &attacker = victim.attacker;
        int refused = 0;
        for (int round = 0; round < rounds; ++round) {
            wire::Message m = attacker.new_message(wire::whole, 4000);
            Strided first(1000), second(1000);
            Outcome one, other;
            const auto receive = [&] {
                REQUIRE(start_receive(victim.side, first, one) == UCD_SUCCESS);
                REQUIRE(start_receive(victim.side, second, other) == UCD_SUCCESS);
            };
            m.kind = wire::offer;
            if (round % 2 == 0) attacker.active(m);
            if (early) receive();
            m.kind = wire::opening;
            attacker.tagged(m);
            attacker.tagged(m);
            attacker.progress(20);
            if (!early) receive();
            attacker.progress(20);
            m.kind = wire::chunk;
            attacker.active(m, std::string(m.total, 'd'));
            attacker.progress(50);
            for (Outcome *o : {&one, &other}) cancel_if_waiting(victim, *o);
            REQUIRE(attacker.within(2, [&] { return one.done() && other.done(); }));
            refused += one.result.status == UCS_ERR_INVALID_PARAM ||
                       other.result.status == UCS_ERR_INVALID_PARAM;
        }
        CHECK(refused == rounds);
    }
}

DEVICE_TEST("a transfer is a tagged one or a user's, and not both") {
    for (const std::size_t total : {std::size_t{0}, std::size_t{4000}}) {
        for (const bool users_first : {true, false}) {
            PipelineVictim victim;
            Attacker &attacker = victim.attacker;
            wire::Message m = attacker.new_message(wire::whole);
            attacker.active(m); // the connection is there now
            attacker.progress(200);
            int both = 0;
            for (int round = 0; round < 20; ++round) {
                victim.told.times = 0;
                Strided out(1000);
                Outcome received;
                REQUIRE(start_receive(victim.side, out, received) == UCD_SUCCESS);
                m.id = attacker.new_id();
                m.total = total;
                victim.paused = true; // so that both messages come at a time
                for (const bool users : {users_first, !users_first}) {
                    m.kind = users ? wire::user_offer : wire::opening;
                    m.user_id = users;
                    if (users)
                        attacker.active(m);
                    else
                        attacker.tagged(m);
                }
                attacker.progress(20);
                victim.paused = false;
                attacker.progress(100);
                if (total > 0) {
                    m.kind = wire::chunk;
                    m.user_id = 0;
                    attacker.active(m, std::string(total, 'd'));
                    attacker.progress(100);
                }
                cancel_if_waiting(victim, received);
                REQUIRE(attacker.within(2, [&] { return received.done(); }));
                both += victim.told.times > 0 && received.result.status == UCS_OK;
            }
            // One that has no bytes is complete as soon as it is opened, whatever else is said.
            if (total > 0) CHECK(both == 0);
        }
    }
}

namespace {

// A pipeline of the library's that sends to the victim, and to the attacker, who learns from that
// what its transfers are called.
struct Honest {
    explicit Honest(PipelineVictim &victim) {
        Attacker &attacker = victim.attacker;
        to_attacker.open_pipeline(UCD_INFO__NULL);
        to_attacker.connect(attacker.side.address());
        // The same pipeline, by another endpoint.
        ep_to_attacker = std::exchange(to_attacker.ep, nullptr);
        to_attacker.connect(victim.side.address());
    }
    ~Honest() {
        to_attacker.close_endpoint();
        to_attacker.ep = ep_to_attacker;
    }
    void progress() { ucd_ucx_progress(to_attacker.pipeline); }
    void send(ucp_ep_h ep, const std::string &text, Outcome &o, const char *eager = "100000") {
        const Keys keys({{"ucd.ucx.eager", eager}});
        const ucd_ucx_param_t p = o.param(keys.get());
        ok(ucd_ucx_am_send_nbx(to_attacker.pipeline, ep, 1, "h", 1, text.data(), text.size(),
                               UCD_TYPE__CHAR, &p, &o.request),
           "ucd_ucx_am_send_nbx");
        o.started();
    }
    Side to_attacker;
    ucp_ep_h ep_to_attacker = nullptr;
};

} // namespace

DEVICE_TEST("a peer that knows another's names does not take part in its transfers") {
    for (const wire::Kind kind :
         {wire::user_offer, wire::offer, wire::whole, wire::chunk, wire::withdraw, wire::opening}) {
        INFO("kind " << kind);
        PipelineVictim victim;
        Attacker &attacker = victim.attacker;
        Honest honest(victim);
        const auto within = [&](double seconds, auto &&condition) {
            return attacker.within(seconds, [&] {
                honest.progress();
                return condition();
            });
        };
        const std::string hello = "hello"; // until it is sent
        Outcome told;
        honest.send(honest.ep_to_attacker, hello, told);
        REQUIRE(within(5, [&] { return told.done() && !attacker.received.empty(); }));
        wire::Message m = wire::read_message(attacker.received.front().header);
        // Its next transfers' names.
        constexpr int names = 40, messages = 10;
        m.kind = kind;
        m.total = 1;
        m.status = kind == wire::withdraw;
        m.user_id = kind == wire::user_offer || kind == wire::whole;
        m.user_header.clear();
        for (int i = 0; i < names; ++i) {
            ++m.id.number;
            const bool brings_data = kind == wire::whole || kind == wire::chunk;
            if (kind == wire::opening)
                attacker.tagged(m, 12345);
            else
                attacker.active(m, std::string(brings_data, 'x'));
        }
        attacker.progress(100);
        victim.told.times = 0;
        std::deque<Outcome> sent;
        const std::string text(5000, 't');
        for (int i = 0; i < messages; ++i) {
            const char *eager = i % 2 == 0 ? "100000" : "64";
            honest.send(honest.to_attacker.ep, text, sent.emplace_back(), eager);
        }
        Strided in(20000), out(20000);
        Outcome tagged, received;
        REQUIRE(start_receive(victim.side, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(honest.to_attacker, in, tagged) == UCD_SUCCESS);
        const bool finished = within(3, [&] {
            return victim.told.times >= messages && received.done() && tagged.done() &&
                   std::all_of(sent.begin(), sent.end(), [](const Outcome &o) { return o.done(); });
        });
        CHECK(finished);
        CHECK(victim.told.times == messages);
        if (received.done()) {
            CHECK(received.result.status == UCS_OK);
            CHECK(out.received_from(in));
        }
        // So that all end, whatever went wrong.
        if (!finished) {
            for (Outcome &o : sent)
                if (!o.done()) (void)ucd_ucx_cancel(honest.to_attacker.pipeline, o.request);
            if (!tagged.done()) (void)ucd_ucx_cancel(honest.to_attacker.pipeline, tagged.request);
            if (!received.done()) (void)ucd_ucx_cancel(victim.side.pipeline, received.request);
            (void)within(2, [&] { return received.done() && tagged.done(); });
        }
        if (kind == wire::opening) { // what UCX holds of them ends with their receives
            Strided sink(10);
            for (int i = 0; i < names; ++i) {
                Outcome o;
                REQUIRE(start_receive(victim.side, sink, o, 12345) == UCD_SUCCESS);
                attacker.progress(20);
                cancel_if_waiting(victim, o);
                REQUIRE(within(2, [&] { return o.done(); }));
            }
        }
    }
}

// Lengths -----------------------------------------------------------------

TEST_CASE("an active message of a user is received as long as it is") {
    PipelineVictim victim({}, false);
    Attacker &attacker = victim.attacker;
    int told_of = 0;
    for (const auto &first : firsts) {
        INFO(first.name);
        victim.told.times = 0;
        disagree(attacker, first, "header", 1);
        if (victim.told.times == 0) continue; // refused before anybody was told
        CHECK(victim.told.times == 1);
        ++told_of;
        std::vector<char> to(claimed, 'x');
        Outcome o;
        start_receive_active(victim.side, victim.told.data, {to.data(), claimed, UCD_TYPE__CHAR},
                             o);
        attacker.progress(50);
        if (!o.done()) // it waits for the rest of what was announced
            victim.side.lose_endpoint();
        CHECK(attacker.within(2, [&] { return o.done(); }));
        CHECK_FALSE((o.result.status == UCS_OK && o.result.bytes > brought));
        CHECK(std::count(to.begin() + brought, to.end(), 'x') ==
              static_cast<std::ptrdiff_t>(claimed - brought));
    }
    CHECK(told_of > 0);
}

// Times -------------------------------------------------------------------

DEVICE_TEST("a receive is cancelled after it has matched, and what comes late is dropped") {
    const struct {
        bool only_ucx; // makes progress: what it has matched, the pipeline does not know yet
        std::size_t before, after, late; // bytes of chunks, before the cancelling and after
    } attacks[] = {{false, 0, 0, 3000}, {false, 1000, 0, 3000}, {true, 0, 4000, 4000}};
    for (const auto &attack : attacks) {
        INFO(attack.before << " bytes before, only UCX: " << attack.only_ucx);
        TwoSides sides(SMALL_CHUNKS);
        bool only_ucx = attack.only_ucx;
        Attacker attacker(sides.b.address(), [&] {
            if (only_ucx)
                ucp_worker_progress(sides.b.worker);
            else
                sides.progress();
        });
        Strided out(1000);
        Outcome received;
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        wire::Message message = attacker.open(out.bytes());
        message.kind = wire::chunk;
        const auto send = [&](std::uint64_t offset, std::size_t bytes) {
            message.offset = offset;
            if (bytes > 0) attacker.active(message, std::string(bytes, 'd'));
        };
        attacker.progress(50);
        CHECK_FALSE(received.done());
        send(0, attack.before);
        attacker.progress(20);
        ok(ucd_ucx_cancel(sides.b.pipeline, received.request), "ucd_ucx_cancel");
        send(0, attack.after);
        only_ucx = false;
        CHECK(attacker.within(5, [&] { return received.done(); }));
        CHECK(received.result.status == UCS_ERR_CANCELED);
        CHECK(received.result.bytes == 0);
        if (attack.before == 0) CHECK(out.is_clear());
        out.clear();
        send(4000 - attack.late, attack.late);
        attacker.progress(50);
        CHECK(out.is_clear());
        CHECK(received.calls == 1);
        check_usable(sides);
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

} // namespace attacks_transfers_test
