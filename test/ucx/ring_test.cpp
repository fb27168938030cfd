// What transfers by the ring cost, and devices that reach each other or do not: on threads, which
// count. What they move: ring_moves_test.cpp. Between processes: ring_processes_test.cpp.

#include "support/device_test.hpp"
#include "ucx/direct_pair.hpp"
#include "ucx/ring_pair.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>

namespace ring_test {

using namespace ucdtest;

namespace {

// With devices that reach each other, which the library asks only once.
class WithPeers {
public:
    WithPeers() {
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        mock::knobs.peers = true;
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    }
    ~WithPeers() {
        CHECK(ucd_finalize() == UCD_SUCCESS);
        CHECK(mock::counts.live_allocations == 0);
        mock::reset();
        CHECK(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    }
    WithPeers(const WithPeers &) = delete;
    WithPeers &operator=(const WithPeers &) = delete;
};

} // namespace

DEVICE_TEST("device memory is read where it is, if both sides trust the other") {
    TwoSides pair({SMALL_RING, {"ucd.ucx.direct", "always"}});
    link_up(pair);
    Case one("ucx direct device", 0);
    RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
    REQUIRE(ends.chunks() > 1);
    (void)transfer(one, pair, ends);
    CHECK(count_of(pair.b, UCD_UCX_EVENT__RECEIVED) == 1);
}

TEST_CASE("chunks between two devices stay in device memory if these reach each other") {
    for (const bool peers : {true, false}) {
        std::unique_ptr<WithPeers> with = peers ? std::make_unique<WithPeers>() : nullptr;
        // Not a session: it would turn the knob back.
        TwoSides pair({SMALL_RING});
        run_cases("ucx ring of two devices", 60, [&](Case &one) {
            RingEnds ends = random_ends(one, Memory::device0, Memory::device1);
            const std::size_t shared = transfer(one, pair, ends);
            if (shared != (peers ? ends.chunks() : 0)) one.fail(shared, " chunks were shared");
        });
        CHECK((pair.a.memory.most == 0) == peers);
    }
}

TEST_CASE("on one device, a sender packs all that it has memory for before it sends") {
    const auto unknown = [](int) -> std::uint64_t { return 0; };
    const std::string two_chunks = std::to_string(4 << 20), all = std::to_string(256 << 20);
    for (const auto &[takes_turns, staging, packed_first] :
         {std::tuple(true, all, 10), {true, two_chunks, 2}, {false, all, 3}}) {
        INFO("staging " << staging);
        mock::knobs.identity = takes_turns ? nullptr : +unknown;
        TwoSides pair({SMALL_RING, {"ucd.ucx.ring_staging", staging}});
        Case one("ucx ring in turns", 0);
        RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
        REQUIRE(ends.chunks() == 10);
        pair.a.events.clear();
        CHECK(transfer(one, pair, ends) == 10);
        // In turns, nothing is packed while a chunk is on its way.
        int packed = 0, on_their_way = 0, most = 0;
        bool overlaps = false;
        for (const ucd_ucx_event_t &event : pair.a.events) {
            if (event.what == UCD_UCX_EVENT__PACK_BEGIN) overlaps |= on_their_way > 0;
            packed += event.what == UCD_UCX_EVENT__PACK_END;
            if (event.what == UCD_UCX_EVENT__SHARE) most = std::max(most, packed--);
            on_their_way +=
                (event.what == UCD_UCX_EVENT__SHARE) - (event.what == UCD_UCX_EVENT__SENT);
        }
        CHECK(packed == 0);
        CHECK(overlaps == !takes_turns);
        CHECK((takes_turns ? most == packed_first : most <= packed_first));
    }
    mock::reset();
}

DEVICE_TEST("device memory for chunks is counted as the pages that it takes") {
    Case one("ucx ring pages", 0);
    RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
    const std::pair<std::string, std::string> two_pages("ucd.ucx.ring_staging",
                                                        std::to_string(4 << 20));
    {
        TwoSides pair({SMALL_RING});
        transfer(one, pair, ends); // what the library has for itself
    }
    {
        // Short chunks have pages of their own all the same.
        TwoSides pair({SMALL_RING, two_pages});
        const int before = mock::counts.allocations;
        Outcome sent, received;
        start_send(pair.a, ends, sent);
        for (int i = 0; i < 50; ++i) pair.progress();
        CHECK(mock::counts.allocations - before == 2);
        start_receive(pair.b, ends, received);
        pair.until([&] { return sent.done() && received.done(); });
        CHECK(mock::counts.allocations - before == 2);
    }
    {
        // A message that is shorter than a chunk takes no whole one.
        TwoSides pair({{"ucd.ucx.eager", "64"}, two_pages});
        const int before = mock::counts.allocations;
        for (int i = 0; i < 5; ++i) CHECK(transfer(one, pair, ends) == 1);
        CHECK(mock::counts.allocations - before == 1);
    }
}

DEVICE_TEST("chunks on the host are pinned memory, where the user gives none") {
    const Keys keys({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.ring", "none"}});
    for (const bool out_of_memory : {false, true}) {
        TwoSides pair;
        for (Side *side : {&pair.a, &pair.b}) {
            ok(ucd_ucx_destroy(&side->pipeline), "ucd_ucx_destroy");
            side->gives_memory = false;
            side->open_pipeline(keys.get());
        }
        const int before = mock::counts.allocations;
        // Then chunks are pageable, and the library stages what it moves.
        Case one("ucx pinned", 0);
        RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
        mock::counts.copies = 0;
        mock::knobs.failing_allocation = out_of_memory ? 1 : 0;
        transfer(one, pair, ends);
        mock::knobs.failing_allocation = 0;
        CHECK(mock::counts.allocations > before);
    }
}

TEST_CASE("memory for messages and chunks is used again, not had again") {
    const WithPeers peers;
    const Keys whole({{"ucd.ucx.eager", "5000"}});
    const Keys by_host({{"ucd.ucx.eager", "64"},
                        {"ucd.ucx.chunk", "100"},
                        {"ucd.ucx.depth", "3"},
                        {"ucd.ucx.ring", "none"}});
    const Keys in_ring({SMALL_RING});
    for (const Keys *keys : {&whole, &by_host, &in_ring}) {
        TwoSides pair;
        for (Side *side : {&pair.a, &pair.b}) {
            ok(ucd_ucx_destroy(&side->pipeline), "ucd_ucx_destroy");
            side->gives_memory = false;
            side->open_pipeline(keys->get());
        }
        Case one("ucx memory again", 0);
        RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device1);
        transfer(one, pair, ends); // what the library has for itself, too
        const int before = mock::counts.allocations;
        for (int i = 0; i < 20; ++i) transfer(one, pair, ends);
        // No more than may be in use at a time.
        CHECK(mock::counts.allocations - before <= 6);
    }
}

TEST_CASE("device memory that was had or opened is given back") {
    {
        const WithPeers peers;
        TwoSides pair({SMALL_RING});
        Case one("ucx ring ends", 0);
        RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device1);
        CHECK(transfer(one, pair, ends) == ends.chunks());
        CHECK(mock::counts.live_allocations > 0);
    } // which counts what is alive after ucd_finalize
    CHECK(mock::counts.live_opens == 0);
}

} // namespace ring_test
