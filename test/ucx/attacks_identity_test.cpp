// Messages that bear another transfer's name, or one name more than once: they end no transfer but
// their own, and leave nothing behind that points to what is gone.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/strided.hpp"

#include <cstring>

namespace attacks_identity_test {

using namespace ucdtest;

namespace {

// A worker with a pipeline whose active messages are counted and dropped.
struct Victim {
    void progress() { ucd_ucx_progress(side.pipeline); }
    PipelineSide side;
    Told told{side, true};
};

} // namespace

DEVICE_TEST("two openings of one transfer match one receive") {
    constexpr int rounds = 5;
    for (const bool early : {true, false}) {
        Victim victim;
        Attacker attacker(victim.side.address(), [&] { victim.progress(); });
        victim.side.connect(attacker.side.address());
        int refused = 0;
        for (int round = 0; round < rounds; ++round) {
            wire::Message m;
            m.id = attacker.new_id();
            m.total = 4000;
            const std::string data(m.total, 'd');
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
            attacker.active(m, data);
            attacker.progress(50);
            // Nobody else can end what waits for a message.
            for (Outcome *o : {&one, &other})
                if (!o->done())
                    REQUIRE(ucd_ucx_cancel(victim.side.pipeline, o->request) == UCD_SUCCESS);
            REQUIRE(attacker.within(2, [&] { return one.done() && other.done(); }));
            refused += one.result.status == UCS_ERR_INVALID_PARAM ||
                       other.result.status == UCS_ERR_INVALID_PARAM;
        }
        CHECK(refused == rounds);
        victim.side.close_endpoint();
    }
}

DEVICE_TEST("a transfer is a tagged one or a user's, and not both") {
    for (const std::size_t total : {std::size_t{0}, std::size_t{4000}}) {
        for (const bool users_first : {true, false}) {
            Victim victim;
            bool waits = false; // so that both messages come at a time
            Attacker attacker(victim.side.address(), [&] {
                if (!waits) victim.progress();
            });
            victim.side.connect(attacker.side.address());
            wire::Message m;
            m.id = attacker.new_id();
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
                waits = true;
                for (const bool users : {users_first, !users_first}) {
                    m.kind = users ? wire::user_offer : wire::opening;
                    m.user_id = users;
                    if (users)
                        attacker.active(m);
                    else
                        attacker.tagged(m);
                }
                attacker.progress(20);
                waits = false;
                attacker.progress(100);
                if (total > 0) {
                    m.kind = wire::chunk;
                    m.user_id = 0;
                    attacker.active(m, std::string(total, 'd'));
                    attacker.progress(100);
                }
                if (!received.done())
                    REQUIRE(ucd_ucx_cancel(victim.side.pipeline, received.request) == UCD_SUCCESS);
                REQUIRE(attacker.within(2, [&] { return received.done(); }));
                both += victim.told.times > 0 && received.result.status == UCS_OK;
            }
            // One that has no bytes is complete as soon as it is opened, whatever else is said.
            if (total > 0) CHECK(both == 0);
            victim.side.close_endpoint();
        }
    }
}

namespace {

// A pipeline of the library's that sends to the victim, and to the attacker, who learns from that
// what its transfers are called.
struct Honest {
    Honest(Victim &victim, Attacker &attacker) {
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
        Victim victim;
        std::unique_ptr<Honest> honest;
        Attacker attacker(victim.side.address(), [&] {
            victim.progress();
            if (honest != nullptr) honest->progress();
        });
        victim.side.connect(attacker.side.address());
        honest = std::make_unique<Honest>(victim, attacker);
        const std::string hello = "hello"; // until it is sent
        Outcome told;
        honest->send(honest->ep_to_attacker, hello, told);
        REQUIRE(attacker.within(5, [&] { return told.done() && !attacker.received.empty(); }));
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
            honest->send(honest->to_attacker.ep, text, sent.emplace_back(), eager);
        }
        Strided in(20000), out(20000);
        Outcome tagged, received;
        REQUIRE(start_receive(victim.side, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(honest->to_attacker, in, tagged) == UCD_SUCCESS);
        const bool finished = attacker.within(3, [&] {
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
                if (!o.done()) (void)ucd_ucx_cancel(honest->to_attacker.pipeline, o.request);
            if (!tagged.done()) (void)ucd_ucx_cancel(honest->to_attacker.pipeline, tagged.request);
            if (!received.done()) (void)ucd_ucx_cancel(victim.side.pipeline, received.request);
            (void)attacker.within(2, [&] { return received.done() && tagged.done(); });
        }
        if (kind == wire::opening) { // what UCX holds of them ends with their receives
            Strided sink(10);
            for (int i = 0; i < names; ++i) {
                Outcome o;
                REQUIRE(start_receive(victim.side, sink, o, 12345) == UCD_SUCCESS);
                attacker.progress(20);
                if (!o.done())
                    REQUIRE(ucd_ucx_cancel(victim.side.pipeline, o.request) == UCD_SUCCESS);
                REQUIRE(attacker.within(2, [&] { return o.done(); }));
            }
        }
        victim.side.close_endpoint();
        honest.reset();
    }
}

} // namespace attacks_identity_test
