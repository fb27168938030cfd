// Answers that go together as one message.

#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"

namespace rma_answers_test {

using namespace ucdtest;

DEVICE_TEST("answers that come as one message end an operation each") {
    HandTarget target;
    Attacker &hand = target.hand;
    const ucd_ucx_window_key_t key = made_up_key();
    constexpr std::size_t gets = 5;
    std::vector<std::vector<char>> to(gets, std::vector<char>(100, 'x'));
    std::vector<Outcome> outcomes(gets);
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < gets; ++i) {
        start_get(target.a, {to[i].data() + 10, 50, UCD_TYPE__CHAR}, {&key, 0, 50, UCD_TYPE__CHAR},
                  outcomes[i]);
        answers.push_back(wire::preamble(wire::answer, hand.next_said().number) +
                          std::string(50, static_cast<char>('a' + i)));
    }
    const auto done = [&](std::size_t i, char c) {
        return outcomes[i].done() && outcomes[i].result.status == UCS_OK &&
               std::count(to[i].begin() + 10, to[i].begin() + 60, c) == 50 &&
               std::count(to[i].begin(), to[i].end(), 'x') == 50;
    };
    // An empty one is the end of them.
    hand.say(wire::join_answers({"", answers[3], answers[0]}));
    hand.progress(20);
    for (const Outcome &o : outcomes) CHECK(!o.done());
    // In any order, and among what is no answer to anything: too short, of no operation, a request,
    // several answers within.
    hand.say(wire::join_answers({answers[3], "abc", wire::preamble(wire::answer, 12345),
                                 wire::preamble(wire::put, 1), wire::join_answers({answers[1]}),
                                 answers[0]}));
    REQUIRE(hand.within(5, [&] { return outcomes[0].done() && outcomes[3].done(); }));
    CHECK(done(3, 'd'));
    CHECK(done(0, 'a'));
    CHECK(!outcomes[1].done());
    // One that is cut short is none, nor is what follows it.
    std::string cut = wire::join_answers({answers[4], answers[1]});
    cut.pop_back();
    hand.say(cut);
    REQUIRE(hand.within(5, [&] { return outcomes[4].done(); }));
    hand.progress(20);
    CHECK(done(4, 'e'));
    CHECK(!outcomes[1].done());
    // Another peer's are none.
    Attacker other(target.a.side.address(), [&] { target.a.progress(); });
    other.say(wire::join_answers({answers[1], answers[2]}));
    other.progress(20);
    CHECK(!outcomes[2].done());
    hand.say(wire::join_answers({answers[2], answers[1]}));
    REQUIRE(hand.within(5, [&] { return outcomes[1].done() && outcomes[2].done(); }));
    CHECK(done(1, 'b'));
    CHECK(done(2, 'c'));
}

DEVICE_TEST("operations that come together are answered together") {
    HandOrigin origin;
    Attacker &hand = origin.hand;
    CHECK(origin.verdict() == wire::done);
    const std::uint64_t before = origin.request.number;
    // Puts and gets in turns, one of them wrong, and more than one message takes.
    constexpr std::uint64_t operations = 60;
    origin.paused = true;
    hand.received.clear();
    for (std::uint64_t i = 0; i < operations; ++i) {
        wire::Request request = origin.request;
        request.number = before + 1 + i;
        request.displacement = static_cast<std::int64_t>(i % 10 * 50);
        if (i == 7) request.displacement = 800;
        if (i % 2 == 1) request.verb = wire::get;
        hand.say(request.text(),
                 i % 2 == 0 ? std::string(50, static_cast<char>('A' + i % 10)) : std::string());
    }
    origin.paused = false;
    std::vector<bool> answered(operations);
    for (std::uint64_t i = 0; i < operations; ++i) {
        const wire::Said m = hand.next_said();
        REQUIRE(m.is_answer());
        REQUIRE(m.number > before);
        const std::uint64_t which = m.number - before - 1;
        REQUIRE(which < operations);
        CHECK(!answered[which]);
        answered[which] = true;
        CHECK(m.first == (which == 7 ? wire::out_of_range : wire::done));
        const bool reads = which % 2 == 1 && which != 7;
        // The window is 'm' where nothing was put.
        CHECK(m.data() == std::string(reads ? 50 : 0, 'm'));
    }
    CHECK(hand.received.size() < operations / 2);
    hand.progress(20);
    CHECK(!hand.has_said());
    for (std::size_t i = 0; i < 10; i += 2)
        CHECK(std::count(origin.memory.begin() + 100 + 50 * static_cast<std::ptrdiff_t>(i),
                         origin.memory.begin() + 150 + 50 * static_cast<std::ptrdiff_t>(i),
                         static_cast<char>('A' + i)) == 50);
}

DEVICE_TEST("answers that come as one message reach a device's memory") {
    HandTarget target;
    Attacker &hand = target.hand;
    const ucd_ucx_window_key_t key = made_up_key();
    const Keys hints({{"ucd.outbuf", "mock:0"}});
    constexpr std::size_t gets = 4, bytes = 60;
    auto *to = static_cast<char *>(mock::allocate(ucd::MemoryKind::device, 0, gets * bytes));
    std::vector<Outcome> outcomes(gets);
    std::vector<std::string> answers;
    std::string expected;
    for (std::size_t i = 0; i < gets; ++i) {
        start_get(target.a, {to + i * bytes, bytes, UCD_TYPE__CHAR},
                  {&key, 0, bytes, UCD_TYPE__CHAR}, outcomes[i], hints.get());
        const std::string data(bytes, static_cast<char>('a' + i));
        answers.push_back(wire::preamble(wire::answer, hand.next_said().number) + data);
        expected += data;
    }
    hand.say(wire::join_answers(answers));
    for (const Outcome &o : outcomes) {
        REQUIRE(hand.within(5, [&] { return o.done(); }));
        CHECK(o.result.status == UCS_OK);
    }
    std::string found(gets * bytes, '\0');
    mock::read(found.data(), to, found.size());
    mock::release(to);
    CHECK(found == expected);
}

} // namespace rma_answers_test
