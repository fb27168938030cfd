// Messages that mean nothing in this version of the protocol: of a peer of the other byte order,
// whose data would not be converted, of another version, or with something where this version says
// nothing, which a later version may mean. They are refused with a status.

#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/type_name.hpp"

#include <algorithm>

namespace attacks_byte_order_test {

using namespace ucdtest;

namespace {

constexpr std::size_t bytes = 100;

// As a peer of the other byte order begins it.
std::string of_other_order(std::string message) {
    message[0] = static_cast<char>(128 | wire::newest_wire);
    return message;
}

std::string with(std::string message, std::size_t at, char letter) {
    message[at] = letter;
    return message;
}

// A tagged message that begins a transfer, of that version.
std::string tagged_text(wire::Kind kind, int version = wire::newest_wire) {
    wire::Message m;
    m.version = version;
    m.kind = kind;
    m.id = {1, 2};
    m.total = kind == wire::whole ? 0 : 50;
    return m.text();
}

using Change = void (*)(wire::Message &);
struct Named {
    const char *name;
    Change change;
};
const Named detail = {"detail", [](wire::Message &m) { m.status = 1; }},
            offset = {"offset", [](wire::Message &m) { m.offset = 1; }},
            user_id = {"the user's id", [](wire::Message &m) { m.user_id = 1; }},
            header = {"a header", [](wire::Message &m) { m.user_header = "h"; }};
const Change nothing = [](wire::Message &) {};

// How a receive ends that gets these messages, of which those of one kind are changed.
ucs_status_t receive(PipelineVictim &victim, const std::vector<wire::Kind> &kinds,
                     wire::Kind changed, const std::function<void(wire::Message &)> &change,
                     const std::string &more = {}) {
    Attacker &attacker = victim.attacker;
    std::string out(bytes, 'o');
    Outcome received;
    start_receive(victim.side, {out.data(), bytes, UCD_TYPE__BYTE}, received);
    wire::Message m = attacker.new_message(wire::whole, bytes);
    for (const wire::Kind kind : kinds) {
        wire::Message one = m;
        one.kind = kind;
        if (kind == wire::withdraw) one.status = -UCS_ERR_CANCELED;
        if (kind == wire::route) one.status = wire::route_status(wire::host_route, 1);
        std::string data(kind == wire::chunk ? bytes : 0, 'd');
        if (kind == wire::route) data.assign(8, '\0');
        if (kind == changed) {
            CHECK_FALSE(received.done());
            change(one);
            if (!more.empty()) data = more;
        }
        if (kind == wire::opening)
            attacker.tagged(one);
        else if (kind == wire::whole)
            attacker.tagged(one.text() + std::string(bytes, 'd'));
        else if (kind == wire::route)
            attacker.active_by_rendezvous(one, data);
        else
            attacker.active(one, data);
        attacker.progress(5);
    }
    REQUIRE(attacker.within(10, [&] { return received.done(); }));
    if (received.result.status == UCS_OK)
        CHECK(out == std::string(bytes, 'd'));
    else
        CHECK(received.result.bytes == 0);
    return received.result.status;
}

const std::vector<wire::Kind> in_chunks = {wire::offer, wire::opening, wire::route, wire::chunk},
                              taken_back = {wire::offer, wire::opening, wire::withdraw};

// Data, or a type, as a transfer of which only the one-sided message is in the user's header.
void send_as_transfer(Attacker &from, const std::string &message, const std::string &data) {
    wire::Message m = from.new_message(wire::whole, data.size());
    m.user_header = message;
    from.active(m, data);
}

} // namespace

// Transfers ---------------------------------------------------------------

TEST_CASE("a tagged message that is not of this version ends its receive with a status") {
    PipelineVictim victim;
    std::string reversed = tagged_text(wire::opening, 2); // version 2 began with a number
    std::reverse(reversed.begin(), reversed.begin() + 4);
    const std::string opening = tagged_text(wire::opening);
    std::vector<std::pair<std::string, ucs_status_t>> attacks = {
        {of_other_order(opening), UCS_ERR_UNSUPPORTED},
        {reversed, UCS_ERR_UNSUPPORTED},
        {of_other_order(with(opening, 7, 'x')), UCS_ERR_INVALID_PARAM}, // nobody's letters
    };
    for (const wire::Kind kind : {wire::opening, wire::whole}) {
        const std::string old = tagged_text(kind, 2);
        attacks.insert(attacks.end(), {{old, UCS_ERR_UNSUPPORTED},
                                       {tagged_text(kind, 4), UCS_ERR_UNSUPPORTED},
                                       {with(old, 0, '1'), UCS_ERR_UNSUPPORTED}, // version 1
                                       {with(old, 0, '3'), UCS_ERR_INVALID_PARAM}});
    }
    for (const auto &[text, status] : attacks) {
        INFO(to_hex(text));
        CHECK(status_of_receive(victim.side, victim.attacker, text) == status);
    }
}

TEST_CASE("a tagged transfer with numbers that have no meaning is refused") {
    PipelineVictim victim;
    const struct {
        std::vector<wire::Kind> kinds;
        wire::Kind kind;
        std::vector<Named> changes;
        ucs_status_t without;
    } attacks[] = {
        {{wire::whole}, wire::whole, {detail, offset, user_id, header}, UCS_OK},
        {in_chunks, wire::offer, {detail, offset, user_id, header}, UCS_OK},
        {in_chunks, wire::opening, {detail, offset, user_id, header}, UCS_OK},
        {in_chunks, wire::route, {offset, header}, UCS_OK},
        {in_chunks, wire::chunk, {detail, header}, UCS_OK},
        {taken_back, wire::withdraw, {offset, header}, UCS_ERR_CANCELED},
    };
    for (const auto &attack : attacks) {
        INFO("kind " << attack.kind);
        CHECK(receive(victim, attack.kinds, attack.kind, nothing) == attack.without);
        for (const Named &named : attack.changes) {
            INFO(named.name);
            CHECK(receive(victim, attack.kinds, attack.kind, named.change) ==
                  UCS_ERR_INVALID_PARAM);
        }
    }
    INFO("data of a withdrawal");
    CHECK(receive(victim, taken_back, wire::withdraw, nothing, "d") == UCS_ERR_INVALID_PARAM);
    INFO("a receipt of an offer");
    CHECK(receive(victim, in_chunks, wire::route, nothing, std::string(8, 'r')) ==
          UCS_ERR_CONNECTION_RESET);
    CHECK(receive(victim, in_chunks, wire::chunk, nothing) == UCS_OK);
}

TEST_CASE("a withdrawal's status is one of UCX's errors, or the message is invalid") {
    PipelineVictim victim;
    constexpr int last = -int{UCS_ERR_LAST};
    for (const int withdrawn : {0, 1, -int{UCS_ERR_NO_MEMORY}, -int{UCS_ERR_CANCELED}, last - 1,
                                last, last + 1, 127, 128, 255, 256, 257, 32767, 32768, 65535}) {
        INFO("status " << withdrawn);
        const bool is_error = withdrawn > 0 && withdrawn < last;
        const auto change = [&](wire::Message &m) {
            m.status = static_cast<std::uint16_t>(withdrawn);
        };
        CHECK(receive(victim, taken_back, wire::withdraw, change) ==
              (is_error ? static_cast<ucs_status_t>(-withdrawn) : UCS_ERR_INVALID_PARAM));
    }
}

TEST_CASE("a user's message with numbers that have no meaning is not delivered") {
    PipelineVictim victim;
    for (const wire::Kind kind : {wire::whole, wire::user_offer}) {
        for (const Named &named : {Named{"nothing", nothing}, detail, offset}) {
            INFO("kind " << kind << ", " << named.name);
            wire::Message m = victim.attacker.new_message(kind, bytes);
            m.user_id = 5;
            m.user_header = "header";
            named.change(m);
            const int before = victim.told.times;
            victim.attacker.active(m, std::string(kind == wire::whole ? bytes : 0, 'd'));
            victim.attacker.progress(20);
            CHECK(victim.told.times == before + (named.change == nothing));
        }
    }
}

// One-sided operations ----------------------------------------------------

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

TEST_CASE("one-sided requests of version 2 are refused with a status, in its words") {
    HandOrigin origin;
    Attacker &attacker = origin.hand;
    wire::OneSided request;
    request.number = 0x11223344;
    request.window = origin.request.window;
    request.count = 4;
    request.type = origin.request.type;
    wire::Message transfer;
    transfer.version = 2;
    transfer.id = {1, 1};
    transfer.total = 4;
    const auto send = [&](bool by_itself, unsigned verb) {
        request.verb = verb;
        transfer.user_header = wire::encode(2, request);
        ++transfer.id.number;
        if (by_itself)
            attacker.say(transfer.user_header, "data");
        else
            attacker.active(transfer, "data");
    };
    for (const bool by_itself : {true, false}) {
        for (unsigned verb = wire::put; verb <= wire::get_accumulate; ++verb) {
            INFO("verb " << verb << ", by itself: " << by_itself);
            attacker.received.clear();
            send(by_itself, verb);
            REQUIRE(attacker.within(5, [&] { return !attacker.received.empty(); }));
            CHECK(attacker.received.front().header.empty());
            wire::OneSided answer;
            REQUIRE(wire::decode(2, attacker.received.front().data, answer));
            CHECK((answer.verb == wire::answer && answer.first == wire::not_supported));
            CHECK((answer.second == 0 && answer.number == 0x11223344));
            CHECK(attacker.received.front().data.size() == wire::preamble_bytes);
        }
    }
    CHECK(origin.is_untouched());
    // What is no request is dropped.
    attacker.received.clear();
    for (const bool by_itself : {true, false})
        for (const unsigned verb : {0u, 5u, 6u, 7u, 8u, 9u, 255u}) send(by_itself, verb);
    transfer.user_header.resize(wire::preamble_bytes - 1);
    attacker.active(transfer, "data");
    attacker.progress(100);
    CHECK(attacker.received.empty());
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
        CHECK(o.result.ucd == UCD_SUCCESS); // no function of libucd has failed
        CHECK(value[0] == 1);
    }
}

TEST_CASE("a one-sided message whose data is a transfer has nothing else behind it") {
    for (const std::string more : {"", "x"}) {
        INFO("behind it: " << more.size());
        const unsigned expected = more.empty() ? wire::done : wire::invalid;
        HandOrigin o;
        ++o.request.number;
        send_as_transfer(o.hand, o.request.text() + more, o.data);
        CHECK(o.hand.next_said().first == expected);
        CHECK(o.is_untouched() == !more.empty());
        // A type.
        const std::string type = flattened(UCD_TYPE__SHORT);
        ++o.request.number;
        o.request.by_name = true;
        o.request.type = name_of(type);
        o.request.count = 25;
        o.hand.request(o.request, o.data);
        REQUIRE(o.hand.next_said().verb == wire::need_type);
        send_as_transfer(o.hand, wire::preamble(wire::type_message, o.request.number) + more, type);
        CHECK(o.hand.next_said().first == expected);
        CHECK(o.is_untouched() == !more.empty());
        // An answer.
        HandTarget target;
        const ucd_ucx_window_key_t key = made_up_key();
        RmaTestOperation get(10);
        ok(get.start(What::get, target.a, &key, 0), "get");
        const wire::Said said = target.hand.next_said();
        send_as_transfer(target.hand, wire::preamble(wire::answer, said.number) + more,
                         std::string(10 * sizeof(int), 'd'));
        REQUIRE(target.hand.within(5, [&] { return get.done(); }));
        CHECK(get.status() == (more.empty() ? UCS_OK : UCS_ERR_INVALID_PARAM));
    }
}

} // namespace attacks_byte_order_test
