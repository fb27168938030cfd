// Messages of a peer of the other byte order. Its data would not be converted, so it is refused
// with a status.

#include "ucx/rma_by_hand.hpp"

#include <algorithm>

namespace attacks_byte_order_test {

using namespace ucdtest;

namespace {

constexpr char other_order = static_cast<char>(128 | wire::newest_wire);

std::string of_other_order(std::string message) {
    message[0] = other_order;
    return message;
}

// The header of a transfer, of that version.
std::string header_of(int version) {
    wire::Header header;
    header.version = version;
    header.kind = wire::opening;
    header.total = 50;
    return wire::encode(header);
}

} // namespace

TEST_CASE("one-sided requests of a peer of the other byte order are answered with a status") {
    HandOrigin origin;
    CHECK(origin.verdict() == wire::done); // as they are for a peer of this one
    std::fill(origin.memory.begin(), origin.memory.end(), 'm');
    for (unsigned verb = wire::put; verb <= wire::get_accumulate; ++verb) {
        origin.request.verb = verb;
        ++origin.request.number;
        const std::string text = of_other_order(origin.request.text()) + origin.data;
        CHECK(origin.verdict_of(text) == wire::not_supported);
    }
    CHECK(origin.is_untouched());
    // What is no request is dropped.
    for (unsigned verb = wire::type_message; verb <= wire::answers + 1; ++verb)
        origin.hand.say(of_other_order(wire::preamble(verb, origin.request.number)));
    origin.hand.progress(100);
    CHECK(!origin.hand.has_said());
    origin.request.verb = wire::put;
    CHECK(origin.verdict() == wire::done);
}

TEST_CASE("an answer of a peer of the other byte order ends the operation with a status") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    // One alone, and one among several; they say "done", and are not believed.
    for (const bool several : {false, true}) {
        char value[4] = {1, 2, 3, 4};
        Outcome o;
        start_get(target.a, {value, 4, UCD_TYPE__CHAR}, {&key, 0, 4, UCD_TYPE__CHAR}, o);
        const std::uint64_t number = target.hand.next_said().number;
        const std::string answer =
            of_other_order(wire::preamble(wire::answer, number, wire::done)) + "data";
        target.hand.say(several ? of_other_order(wire::join_answers({answer})) : answer);
        REQUIRE(target.hand.within(5, [&] { return o.done(); }));
        CHECK(o.result.status == UCS_ERR_UNSUPPORTED);
        CHECK(value[0] == 1);
    }
}

TEST_CASE("a tagged message of a peer of the other byte order ends its receive with a status") {
    PipelineSide victim;
    Attacker other(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    CHECK(status_of_receive(victim, other, of_other_order(header_of(wire::newest_wire))) ==
          UCS_ERR_UNSUPPORTED);
    std::string old = header_of(2); // version 2 began with a number
    std::reverse(old.begin(), old.begin() + 4);
    CHECK(status_of_receive(victim, other, old) == UCS_ERR_UNSUPPORTED);
    // Letters that are nobody's.
    std::string foreign = header_of(wire::newest_wire);
    foreign[7] = 'x';
    CHECK(status_of_receive(victim, other, of_other_order(foreign)) == UCS_ERR_INVALID_PARAM);
}

} // namespace attacks_byte_order_test
