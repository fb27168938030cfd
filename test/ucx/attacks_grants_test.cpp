// What one endpoint was granted means nothing on another: handles of windows, indexes of types.
// What a peer asks for is charged to it (attacks_budget_test.cpp has more of that).

#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <optional>

namespace attacks_grants_test {

using namespace ucdtest;

namespace {

constexpr std::size_t MiB = 1 << 20;

struct Target {
    explicit Target(std::size_t bytes, ucd_info_t info = UCD_INFO__NULL)
        : side(info, UCS_THREAD_MODE_SINGLE), memory(bytes, 'm') {
        window.emplace(side, memory.data(), memory.size());
    }
    RmaSide side;
    std::vector<char> memory;
    std::optional<Window> window;

    wire::Request request() const {
        wire::Request r;
        r.window = wire::window_name(*window->key());
        r.type = flattened(UCD_TYPE__CHAR);
        return r;
    }
    bool is_untouched() const {
        return std::count(memory.begin(), memory.end(), 'm') ==
               static_cast<std::ptrdiff_t>(memory.size());
    }
};

} // namespace

TEST_CASE("handles and indexes are those of the endpoint that was given them") {
    Target target(100);
    Attacker one(target.side.side.address(), [&] { target.side.progress(); });
    Attacker other(target.side.side.address(), [&] { target.side.progress(); });
    wire::Request first = target.request();
    one.request(first, "a");
    const wire::Said granted = one.next_said();
    REQUIRE(granted.first == wire::done);
    REQUIRE(granted.verb == wire::answer_with_handle);
    target.memory[0] = 'm';
    wire::Request later = first;
    later.shows_key = false;
    later.handle = granted.window_handle();
    later.is_known = true;
    later.type.clear();
    // The other shows neither the key nor the type.
    const auto verdict = [&](Attacker &attacker, wire::Request request) {
        request.number = ++first.number;
        attacker.request(request, "b");
        const wire::Said said = attacker.next_said();
        CHECK(said.number == request.number);
        return said.first;
    };
    CHECK(verdict(other, later) == wire::no_window);
    // With a key of its own, but a type that it has not said.
    wire::Request with_key = later;
    with_key.shows_key = true;
    CHECK(verdict(other, with_key) == wire::invalid);
    CHECK(target.is_untouched());
    // Guesses.
    for (const std::uint64_t guess :
         {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX, later.handle ^ 1, later.handle ^ 1u << 16,
          later.handle + 1, later.handle & 0xffff}) {
        wire::Request guessed = later;
        guessed.handle = guess;
        CHECK(verdict(one, guessed) == wire::no_window);
    }
    for (const unsigned index : {1u, 4095u, 4096u, UINT32_MAX}) {
        wire::Request guessed = later;
        guessed.index = index;
        CHECK(verdict(one, guessed) == wire::invalid);
    }
    CHECK(target.is_untouched());
    CHECK(verdict(one, later) == wire::done);
    CHECK(target.memory[0] == 'b');
    // They end with their window.
    target.window.reset();
    CHECK(verdict(one, later) == wire::no_window);
    target.window.emplace(target.side, target.memory.data(), target.memory.size());
    CHECK(verdict(one, later) == wire::no_window);
}

TEST_CASE("handles and indexes end with their endpoint") {
    Target target(100);
    Attacker attacker(target.side.side.address(), [&] { target.side.progress(); });
    target.side.side.connect(attacker.side.address());
    wire::Request request = target.request();
    attacker.request(request, "a");
    const wire::Said granted = attacker.next_said();
    REQUIRE(granted.verb == wire::answer_with_handle);
    target.side.lose_endpoint();
    attacker.progress(20);
    target.memory[0] = 'm';
    request.number = 2;
    request.shows_key = false;
    request.handle = granted.window_handle();
    attacker.request(request, "b");
    CHECK(attacker.next_said().first == wire::no_window);
    request.number = 3;
    request.shows_key = true;
    request.is_known = true;
    request.type.clear();
    attacker.request(request, "b");
    CHECK(attacker.next_said().first == wire::invalid);
    CHECK(target.is_untouched());
    target.side.close_endpoint();
}

TEST_CASE("one-sided requests of version 2 are refused with a status, in its words") {
    Target target(100);
    Attacker attacker(target.side.side.address(), [&] { target.side.progress(); });
    wire::OneSided request;
    request.number = 0x11223344;
    request.window = wire::window_name(*target.window->key());
    request.count = 4;
    request.type = flattened(UCD_TYPE__CHAR);
    wire::Message transfer;
    transfer.version = 2;
    transfer.id = {1, 1};
    transfer.total = 4;
    const auto send = [&](bool by_itself) {
        transfer.user_header = wire::encode(2, request);
        ++transfer.id.number;
        if (by_itself)
            attacker.say(transfer.user_header, "data");
        else
            attacker.active(transfer, "data");
    };
    for (const bool by_itself : {true, false}) {
        for (request.verb = wire::put; request.verb <= wire::get_accumulate; ++request.verb) {
            INFO("verb " << request.verb << ", by itself: " << by_itself);
            attacker.received.clear();
            send(by_itself);
            REQUIRE(attacker.within(5, [&] { return !attacker.received.empty(); }));
            CHECK(attacker.received.front().header.empty());
            wire::OneSided answer;
            REQUIRE(wire::decode(2, attacker.received.front().data, answer));
            CHECK((answer.verb == wire::answer && answer.first == wire::not_supported));
            CHECK((answer.second == 0 && answer.number == 0x11223344));
            CHECK(attacker.received.front().data.size() == wire::preamble_bytes);
        }
    }
    CHECK(target.is_untouched());
    // What is no request is dropped.
    attacker.received.clear();
    for (const bool by_itself : {true, false})
        for (const unsigned verb : {0u, 5u, 6u, 7u, 8u, 9u, 255u}) {
            request.verb = verb;
            send(by_itself);
        }
    transfer.user_header.resize(wire::preamble_bytes - 1);
    attacker.active(transfer, "data");
    attacker.progress(100);
    CHECK(attacker.received.empty());
}

TEST_CASE("tagged messages of other versions end their receives with a status") {
    PipelineSide victim;
    Attacker other(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    for (const wire::Kind kind : {wire::opening, wire::whole}) {
        wire::Message m;
        m.kind = kind;
        m.id = {1, 2};
        m.total = kind == wire::whole ? 0 : 50;
        for (const int version : {2, 4}) {
            m.version = version;
            CHECK(status_of_receive(victim, other, m.text()) == UCS_ERR_UNSUPPORTED);
        }
        // Version 1 is version 2, but for its letters.
        m.version = 2;
        CHECK(status_of_receive(victim, other, "1" + m.text().substr(1)) == UCS_ERR_UNSUPPORTED);
        CHECK(status_of_receive(victim, other, "3" + m.text().substr(1)) == UCS_ERR_INVALID_PARAM);
    }
}

TEST_CASE("a peer over its budget is barred, and no other one") {
    const Keys keys({{"ucd.ucx.peer_memory", "1048576"}});
    PipelineSide victim(keys.get());
    Attacker attacker(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    Attacker honest(victim.address(), [&] { ucd_ucx_progress(victim.pipeline); });
    victim.connect(attacker.side.address());
    Told told(victim);
    // One transfer of each that waits for the rest of it.
    char to[2][100] = {};
    Outcome outcomes[2];
    wire::Message waiting[2];
    Attacker *peers[] = {&attacker, &honest};
    for (int i = 0; i < 2; ++i) {
        start_receive(victim, {to[i], 100, UCD_TYPE__CHAR}, outcomes[i], static_cast<ucp_tag_t>(i));
        waiting[i] = peers[i]->open(100, static_cast<ucp_tag_t>(i));
        peers[i]->progress(50);
    }
    const auto flood = [&] {
        for (int i = 0; i < 20000; ++i) {
            wire::Message m;
            m.kind = wire::offer;
            m.id = attacker.new_id();
            m.total = 1000;
            attacker.active(m);
            if (i % 8 == 0) attacker.progress();
        }
        attacker.progress(50);
    };
    const std::size_t before = heap_bytes();
    flood();
    const std::size_t now = heap_bytes();
    CHECK((now < before || now - before < 2 * MiB));
    CHECK(outcomes[0].done());
    CHECK(outcomes[0].result.status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK_FALSE(outcomes[1].done());
    // What it says is dropped.
    wire::Message users;
    users.user_id = 1;
    users.id = attacker.new_id();
    attacker.active(users);
    attacker.progress(50);
    CHECK(told.times == 0);
    waiting[1].kind = wire::chunk;
    honest.active(waiting[1], std::string(100, 'h'));
    CHECK(honest.within(5, [&] { return outcomes[1].done(); }));
    CHECK(outcomes[1].result.status == UCS_OK);
    CHECK(std::string(to[1], 100) == std::string(100, 'h'));
    // Until its endpoint is made anew.
    victim.lose_endpoint();
    attacker.progress(50);
    users.id = attacker.new_id();
    attacker.active(users);
    CHECK(attacker.within(5, [&] { return told.times == 1; }));
    victim.close_endpoint();
}

} // namespace attacks_grants_test
