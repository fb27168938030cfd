// A target of one-sided operations whose peers ask for as much as its limits permit: what that
// costs in memory and in time.
#pragma once

#include "api/object.h"
#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <list>

namespace ucdtest {

// What progress calls cost, at their most.
struct Longest {
    double seconds = 0;
    std::uint64_t given_back = 0; // bytes of the ledger
    template <class Progress>
    void note(const ucd_ucx::Ledger &ledger, Progress &&progress) {
        const std::uint64_t before = ledger.bytes();
        seconds = std::max(seconds, cpu_seconds_of(progress));
        const std::uint64_t after = ledger.bytes();
        given_back = std::max(given_back, before - std::min(before, after));
    }
};

// Its peers know its windows, and the index 0 for a byte. The first one has an endpoint here.
struct MeasuredTarget {
    explicit MeasuredTarget(std::size_t peers,
                            std::initializer_list<std::pair<std::string, std::string>> keys = {},
                            std::size_t window_bytes = 2 << 20, std::size_t windows = 1)
        : side(Keys(keys).get(), UCS_THREAD_MODE_SINGLE), memory(window_bytes + 1000, '\1') {
        for (std::size_t i = 0; i < windows; ++i)
            made.emplace_back(side, memory.data() + i % 1000, window_bytes);
        for (std::size_t i = 0; i < peers; ++i)
            attackers.emplace_back(side.side.address(), [this] { progress(); });
        side.side.connect(attackers.front().side.address());
        for (Attacker &attacker : attackers) CHECK(serves(attacker));
    }
    ~MeasuredTarget() {
        // UCX has what it was given to send to them until they take it, or drop it.
        (void)ucd_ucx_lose_endpoint(side.rma, side.ep(), UCS_ERR_CONNECTION_RESET);
        for (Attacker &attacker : attackers)
            (void)attacker.within(20, [&] {
                attacker.release_data();
                attacker.received.clear();
                attacker.progress(50);
                return attacker.received.empty();
            });
        side.close_endpoint();
    }
    MeasuredTarget(const MeasuredTarget &) = delete;
    MeasuredTarget &operator=(const MeasuredTarget &) = delete;

    const ucd_ucx::Ledger &ledger() const { return side.rma->engine.ledger; }
    void progress() {
        spent += cpu_seconds_of([&] { longest.note(ledger(), [&] { side.progress(); }); });
        most = std::max(most, heap_bytes());
        charged = std::max(charged, ledger().bytes());
    }
    wire::Request request(unsigned verb = wire::put, std::size_t window = 0) const {
        wire::Request r;
        r.verb = verb;
        r.window = wire::window_name(*std::next(made.begin(), static_cast<long>(window))->key());
        return r;
    }
    // Of a byte whose type is known.
    wire::Request short_request(unsigned verb) const {
        wire::Request r = request(verb);
        r.is_known = true;
        return r;
    }
    // A put of a byte, and its answer.
    bool serves(Attacker &peer) {
        wire::Request r = request();
        r.number = ++served;
        r.type = flattened(UCD_TYPE__BYTE);
        r.displacement = 7;
        peer.request(r, "h");
        const wire::Said said = peer.next_said();
        return said.number == r.number && said.first == wire::done;
    }
    // From here on.
    void measure() {
        start = most = heap_bytes();
        charged = 0;
        spent = 0;
        longest = {};
    }
    std::size_t growth() const { return most > start ? most - start : 0; }

    RmaSide side;
    std::vector<char> memory;
    std::list<Window> made;
    std::list<Attacker> attackers;
    std::uint64_t served = 1'000'000;
    double spent = 0;
    Longest longest;
    std::size_t start = 0, most = 0;
    std::uint64_t charged = 0;
};

} // namespace ucdtest
