// Messages whose lengths disagree with each other: none may make a receiver read more than came.

#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>

namespace attacks_lengths_test {

using namespace ucdtest;

namespace {

constexpr std::size_t claimed = 4096, sent = 8; // bytes

// What says first how long the transfer is.
const struct {
    const char *name;
    wire::Kind kind;
    std::size_t bytes; // that come with it
} firsts[] = {{"an offer", wire::offer, 0},
              {"a user's offer", wire::user_offer, 0},
              {"a chunk", wire::chunk, 1},
              {"an opening", wire::opening, 0},
              {"a message", wire::whole, 8}};

// A message that says it has `claimed` bytes, then one that has fewer, both of one transfer.
void disagree(Attacker &attacker, wire::Kind kind, std::size_t bytes, const std::string &header) {
    wire::Message m;
    m.id = attacker.new_id();
    m.kind = kind;
    m.total = claimed;
    if (kind == wire::opening)
        attacker.tagged(m);
    else
        attacker.active(m, std::string(bytes, 'f'));
    m.kind = wire::whole;
    m.total = sent;
    m.user_header = header;
    attacker.active(m, std::string(sent, 's'));
    attacker.progress(50);
}

} // namespace

TEST_CASE("a put whose bytes did not come writes nothing of the target's own memory") {
    RmaSide target(UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
    std::vector<char> memory(claimed, 'm');
    const Window window(target, memory.data(), memory.size());
    Attacker attacker(target.side.address(), [&] { target.progress(); });
    target.side.connect(attacker.side.address());
    for (const auto &first : firsts) {
        INFO(first.name);
        wire::Request request;
        request.window = wire::window_name(*window.key());
        request.type = flattened(UCD_TYPE__CHAR);
        request.count = claimed;
        disagree(attacker, first.kind, first.bytes, request.text());
        const auto kept = std::count(memory.begin() + sent, memory.end(), 'm');
        CHECK(kept == static_cast<std::ptrdiff_t>(claimed - sent));
        std::fill(memory.begin(), memory.end(), 'm');
    }
    // Of one message whose data is short.
    attacker.progress(50);
    while (attacker.has_said()) (void)attacker.next_said();
    for (const std::size_t short_by : {std::size_t{1}, claimed - sent, claimed}) {
        wire::Request request;
        request.window = wire::window_name(*window.key());
        request.type = flattened(UCD_TYPE__CHAR);
        request.count = claimed;
        request.number = 77 + short_by;
        attacker.request(request, std::string(claimed - short_by, 's'));
        CHECK(attacker.next_said().first == wire::invalid);
        CHECK(std::count(memory.begin(), memory.end(), 'm') == claimed);
    }
    target.close_endpoint();
}

TEST_CASE("a get does not succeed with bytes that never came") {
    RmaSide origin(UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
    for (const auto &first : firsts) {
        INFO(first.name);
        Attacker attacker(origin.side.address(), [&] { origin.progress(); });
        origin.side.connect(attacker.side.address());
        ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
        key.bytes[8] = 1;
        std::vector<char> to(claimed, 'x');
        Outcome o;
        start_get(origin, {to.data(), claimed, UCD_TYPE__CHAR}, {&key, 0, claimed, UCD_TYPE__CHAR},
                  o);
        const wire::Said asked = attacker.next_said();
        REQUIRE(asked.verb == wire::get);
        const std::string answer = wire::preamble(wire::answer, asked.number, wire::done);
        disagree(attacker, first.kind, first.bytes, answer);
        const bool succeeded = o.done() && o.result.status == UCS_OK;
        CHECK_FALSE(succeeded);
        CHECK(std::count(to.begin() + sent, to.end(), 'x') ==
              static_cast<std::ptrdiff_t>(claimed - sent));
        // One message, with fewer bytes and with more.
        attacker.say(answer, std::string(sent, 's'));
        attacker.progress(50);
        CHECK_FALSE((o.done() && o.result.status == UCS_OK));
        origin.close_endpoint();
        CHECK(attacker.within(2, [&] { return o.done(); }));
        CHECK(std::count(to.begin() + sent, to.end(), 'x') ==
              static_cast<std::ptrdiff_t>(claimed - sent));
    }
}

TEST_CASE("an active message of a user is received as long as it is") {
    PipelineSide victim;
    Told told(victim);
    Attacker attacker(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    victim.connect(attacker.side.address());
    for (const auto &first : firsts) {
        INFO(first.name);
        told.times = 0;
        disagree(attacker, first.kind, first.bytes, "header");
        if (told.times == 0) continue; // refused before anybody was told
        CHECK(told.times == 1);
        std::vector<char> to(claimed, 'x');
        Outcome o;
        start_receive_active(victim, told.data, {to.data(), claimed, UCD_TYPE__CHAR}, o);
        attacker.progress(50);
        if (!o.done()) // it waits for the rest of what was announced
            victim.lose_endpoint();
        CHECK(attacker.within(2, [&] { return o.done(); }));
        CHECK_FALSE((o.result.status == UCS_OK && o.result.bytes > sent));
        CHECK(std::count(to.begin() + sent, to.end(), 'x') ==
              static_cast<std::ptrdiff_t>(claimed - sent));
    }
    victim.close_endpoint();
}

} // namespace attacks_lengths_test
