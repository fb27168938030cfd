// The longest call of progress that peers can cause, with the most of everything that the limits
// permit (docs/guide/security.md). What one call ends is counted by what it gives back to the
// ledger; the limit on its time is only there to notice what nothing counts.

#include "datatype/op_steps.h"
#include "ucx/measured_target.hpp"

namespace attacks_longest_call_test {

using namespace ucdtest;

namespace {

// A hundred times what a call of progress is meant to take for a peer.
constexpr double max_seconds = 0.1;

struct Victim : MeasuredTarget {
    using MeasuredTarget::MeasuredTarget;

    // Sends so many requests, of which `change` makes each another, in messages of several.
    template <class Change>
    void send(Attacker &attacker, wire::Request r, int requests, const std::string &data,
              Change &&change) {
        std::vector<std::string> parts;
        std::size_t bytes = 0;
        for (int i = 0; i < requests; ++i) {
            change(r);
            ++r.number;
            const std::string one = r.text() + data;
            if (bytes + one.size() > 1900) {
                attacker.say(wire::join_answers(parts));
                parts.clear();
                bytes = 0;
                attacker.received.clear();
            }
            bytes += one.size() + 4;
            parts.push_back(one);
        }
        attacker.say(wire::join_answers(parts));
        settle(attacker);
    }
    // Until all has come: over TCP, some is on its way, and would come after a loss.
    void settle(Attacker &attacker) const {
        std::uint64_t before;
        do {
            before = ledger().bytes();
            attacker.progress(500);
        } while (ledger().bytes() != before);
    }
    // An accumulate that begins and stops: the others of its window wait behind it.
    wire::Message stop(Attacker &attacker) const {
        wire::Message m = attacker.new_message(wire::user_offer, 1000);
        wire::Request r = short_request(wire::accumulate);
        r.op = UCD_OP__BOR;
        r.count = m.total;
        m.user_header = r.text();
        attacker.active(m);
        attacker.progress(10);
        return m;
    }
    void lose() { side.lose_endpoint(); }
    void report(const char *what) {
        WARN(what << ": the longest call took " << 1e3 * longest.seconds << " ms and gave back "
                  << longest.given_back << " bytes");
        CHECK(longest.seconds < max_seconds);
    }
};

// Of one peer, in one call: 2048 operations of less than 1 KiB each, and its tables.
constexpr std::uint64_t max_given_back = (2 << 20) + (256 << 10);

// Operations that wait for a type, which never comes.
void park(Victim &v, Attacker &attacker, int operations, std::uint64_t after = 1) {
    wire::Request r = v.request();
    r.by_name = true;
    r.number = after;
    v.send(attacker, r, operations, "d", [](wire::Request &next) {
        next.index = static_cast<unsigned>(next.number % 4096);
        next.type = made_up_name(next.number);
    });
}

void accumulate_many(Victim &v, Attacker &attacker, int operations) {
    wire::Request r = v.short_request(wire::accumulate);
    r.op = UCD_OP__BOR;
    v.send(attacker, r, operations, "\2", [](wire::Request &) {});
}

// A byte at each of so many levels.
ucd_type_t nested_bytes(int levels) {
    ucd_type_t type = UCD_TYPE__BYTE;
    for (int i = 1; i < levels; ++i) {
        const std::intptr_t lengths[] = {1, 1}, displacements[] = {0, 2 + i % 7};
        const ucd_type_t members[] = {UCD_TYPE__BYTE, type};
        const ucd_type_t outer = made(ucd_create_struct, 2, lengths, displacements, members);
        if (i > 1) ok(ucd_free(&type), "free");
        type = outer;
    }
    return type;
}

// Of active messages that nobody receives: so many, each of a transfer of its own or all of one.
void send_to_nobody(Attacker &attacker, int messages, bool of_one) {
    wire::Message m = attacker.new_message(wire::chunk, 1 << 20);
    for (int i = 0; i < messages; ++i) {
        if (of_one)
            m.offset = static_cast<std::uint64_t>(i);
        else
            m.id = attacker.new_id();
        attacker.active(m, "d");
        if (i % 8 == 0) attacker.progress();
    }
    attacker.progress(10);
}

} // namespace

TEST_CASE("operations behind one that stops go on in many calls of progress") {
    for (const std::size_t peers : {1, 3}) {
        Victim v(peers);
        const int operations = messages(20000) / static_cast<int>(peers);
        wire::Message first = v.stop(v.attackers.front());
        for (Attacker &attacker : v.attackers) accumulate_many(v, attacker, operations);
        v.measure();
        first.kind = wire::withdraw;
        first.status = 16;
        first.user_header.clear();
        v.attackers.front().active(first);
        const auto ends = [&] {
            for (Attacker &attacker : v.attackers) attacker.progress();
            return v.ledger().bytes() < 100000;
        };
        CHECK(v.attackers.front().within(20, ends));
        CHECK((v.memory[0] & 2) == 2);
        v.report(peers == 1 ? "operations of a peer go on" : "operations of three peers go on");
        CHECK(v.longest.given_back < peers * max_given_back);
    }
}

TEST_CASE("the operations of a lost endpoint end in many calls of progress") {
    for (const bool parks : {false, true}) {
        Victim v(2);
        Attacker &lost = v.attackers.front(), &other = v.attackers.back();
        const int operations = messages(20000);
        if (!parks) (void)v.stop(lost);
        if (parks)
            park(v, lost, operations);
        else
            accumulate_many(v, lost, operations);
        v.measure();
        v.lose();
        // Others are served meanwhile, and behind them.
        wire::Request r = v.short_request(wire::accumulate);
        r.op = UCD_OP__BOR;
        r.number = 100000;
        r.displacement = 5;
        other.request(r, "\4");
        CHECK(other.within(20, [&] {
            lost.progress();
            return v.ledger().bytes() < 100000;
        }));
        CHECK(other.next_said().first == wire::done);
        CHECK(v.memory[5] == 5);
        CHECK((v.memory[0] & 2) == 0);
        v.report(parks ? "operations that wait for types end" : "accumulates that wait end");
        CHECK(v.longest.given_back < max_given_back);
    }
}

TEST_CASE("the names and the type of a lost endpoint end with it") {
    for (const bool is_large : {false, true}) {
        // No type is remembered for others: the last one goes with the endpoint.
        Victim v(1, {{"ucd.ucx.rma.types", "0"}}, 2 << 20, 1000);
        Attacker &attacker = v.attackers.front();
        // Nearly as many names of types and windows as a peer may have, or one long type.
        const int types = is_large ? 1 : std::min(messages(4000), 4000), levels = messages(20000);
        for (int i = 0; i < types; ++i) {
            const ucd_type_t type = is_large ? nested_bytes(levels)
                                             : made(ucd_create_resized, UCD_TYPE__BYTE, 0, i + 1);
            wire::Request r = v.request(wire::put, static_cast<std::size_t>(i) % 1000);
            r.number = static_cast<std::uint64_t>(i) + 10;
            r.index = 1 + static_cast<unsigned>(i);
            r.type = taken_apart(type);
            attacker.request(r, std::string(is_large ? levels : 1, 'd'));
            CHECK(attacker.next_said().first == wire::done);
        }
        const ucd_ucx::Ledger &ledger = v.ledger();
        CHECK(ledger.bytes() > static_cast<std::uint64_t>(is_large ? 400 * levels : 30 * types));
        v.measure();
        v.longest.note(ledger, [&] { v.lose(); });
        CHECK(attacker.within(20, [&] { return ledger.bytes() == 0; }));
        v.report(is_large ? "the type of a lost endpoint ends"
                          : "the names of a lost endpoint end");
    }
}

TEST_CASE("operations that wait for a type cost idle progress nothing") {
    Victim v(1, {{"ucd.ucx.rma.peer_operations", "15000"}});
    Attacker &attacker = v.attackers.front();
    const auto idle = [&] {
        attacker.progress(50);
        return cpu_seconds_of([&] {
            for (int i = 0; i < 300; ++i) v.side.progress();
        });
    };
    park(v, attacker, 10);
    (void)idle();
    const double few = idle();
    const int operations = messages(20000);
    const std::size_t before = heap_bytes();
    park(v, attacker, operations, 10);
    int waiting = 0, refused = 0;
    while (attacker.has_said()) {
        const wire::Said said = attacker.next_said();
        waiting += said.verb == wire::need_type;
        refused += said.is_answer() && said.first == wire::no_memory;
    }
    const double many = idle();
    const std::size_t kept = heap_bytes() - before;
    WARN("300 idle calls: " << few << " s; with " << waiting << " operations waiting, " << refused
                            << " refused: " << many << " s; " << kept << " bytes kept");
    CHECK(many < 20 * few + 0.0005);
    // There is a limit to how many wait.
    CHECK(waiting <= 15000);
    CHECK(waiting + refused >= operations);
}

TEST_CASE("the operations of a destroyed window are refused in many calls of progress") {
    Victim v(1);
    Attacker &attacker = v.attackers.front();
    park(v, attacker, messages(20000));
    int waiting = 0, refused = 0;
    while (attacker.has_said()) waiting += attacker.next_said().verb == wire::need_type;
    v.measure();
    const ucd_ucx::Ledger &ledger = v.ledger();
    const std::uint64_t before = ledger.bytes();
    v.longest.note(ledger, [&] { v.made.clear(); });
    CHECK(ledger.bytes() <= before); // there are not all the answers
    CHECK(attacker.within(20, [&] {
        while (attacker.has_said()) refused += attacker.next_said().first == wire::no_window;
        return refused == waiting;
    }));
    v.report("the operations of a destroyed window end");
    CHECK(v.longest.given_back < max_given_back);
}

TEST_CASE("what a barred peer has asked for ends in many calls of progress") {
    Victim v(1, {{"ucd.ucx.peer_memory", "100000000"}});
    Attacker &attacker = v.attackers.front();
    park(v, attacker, messages(10000));
    v.measure();
    wire::Message m;
    m.kind = wire::chunk;
    m.total = 1 << 20;
    for (int i = 0; i < 100 && v.ledger().barred() == 0; ++i) {
        m.id = attacker.new_id();
        attacker.active(m, std::string(m.total, 'd'));
    }
    CHECK(attacker.within(20, [&] { return v.ledger().barred() == 1; }));
    CHECK(attacker.within(20, [&] { return v.ledger().bytes() < 100000; }));
    v.report("what a barred peer has asked for ends");
}

TEST_CASE("messages that nobody receives end in many calls of progress") {
    for (const bool of_one : {false, true}) {
        PipelineSide victim;
        const ucd_ucx::Ledger &ledger = victim.pipeline->engine.ledger;
        Longest longest;
        Attacker attacker(victim.address(), [&] {
            longest.note(ledger, [&] { ucd_ucx_progress(victim.pipeline); });
        });
        victim.connect(attacker.side.address());
        send_to_nobody(attacker, messages(20000), of_one);
        longest = {};
        victim.lose_endpoint();
        CHECK(attacker.within(20, [&] { return ledger.bytes() == 0; }));
        WARN((of_one ? "chunks" : "transfers")
             << " of a lost endpoint: the longest call took " << 1e3 * longest.seconds
             << " ms and gave back " << longest.given_back << " bytes");
        CHECK(longest.seconds < max_seconds);
        CHECK(longest.given_back < 2 * max_given_back);
        victim.close_endpoint();
    }
}

TEST_CASE("of a message of more parts than are sent together the others are dropped") {
    Victim v(1);
    Attacker &attacker = v.attackers.front();
    std::vector<std::string> parts;
    wire::Request r = v.short_request(wire::put);
    for (r.number = 10; r.number < 10 + 30; ++r.number) parts.push_back(r.text() + "p");
    attacker.say(wire::join_answers(parts));
    for (int i = 0; i < 30; ++i) CHECK(attacker.next_said().first == wire::done);
    for (; r.number < 10 + 50; ++r.number) parts.push_back(r.text() + "q");
    attacker.say(wire::join_answers(parts));
    attacker.progress(100);
    int answered = 0;
    for (; attacker.has_said(); ++answered) (void)attacker.next_said();
    CHECK((answered >= 30 && answered < 45));
}

TEST_CASE("ops that take long are divided among calls of progress by their weights") {
    Victim v(1);
    Attacker &attacker = v.attackers.front();
    constexpr std::size_t element = sizeof(long double _Complex), elements = 4096;
    wire::Request r = v.request();
    r.verb = wire::accumulate;
    r.op = UCD_OP__PROD;
    r.type = flattened(UCD_TYPE__C_LONG_DOUBLE_COMPLEX);
    r.index = 1;
    r.count = elements;
    const std::string nans(elements * element, '\xff');
    v.longest = {};
    attacker.request(r, nans);
    int calls = 0;
    for (; !attacker.has_said() && calls < 10000; calls += 2) attacker.progress(1);
    CHECK(attacker.next_said().first == wire::done);
    const std::uint64_t steps =
        ucd_ucx::steps_of_op(UCD_TYPE__C_LONG_DOUBLE_COMPLEX, element, UCD_OP__PROD, nans.size());
    CHECK(static_cast<std::uint64_t>(calls) >= steps / ucd_ucx::Ledger::steps_of_call);
    v.report("products of long double complex NaNs");
}

} // namespace attacks_longest_call_test
