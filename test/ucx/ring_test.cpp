// Transfers whose chunks stay in device memory: two pipelines of one process, where the memory is
// opened at its own address. Between processes: ring_processes_test.cpp.

#include "ucx/ring_pair.hpp"

#include <memory>

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

TEST_CASE("chunks between devices stay in device memory") {
    const DeviceSession session;
    for (const char *copy : {"no", "yes"}) {
        for (const char *expose : {"no", "yes"}) {
            TwoSides pair(
                {SMALL_RING, {"ucd.ucx.ring_copy", copy}, {"ucd.ucx.ring_expose", expose}});
            run_cases("ucx ring", 100, [&](Case &one) {
                RingEnds ends = random_ends(one);
                // Whoever is told too early that memory is free has time to show it.
                mock::knobs.delay_us = one.rng().chance(30) ? 100 : 0;
                const std::size_t shared = transfer(one, pair, ends);
                if (shared != ends.chunks())
                    one.fail(shared, " of ", ends.chunks(), " chunks were shared");
                // Packed but where it is contiguous and may be opened.
                const bool packs = !(ends.from_is_contiguous() && *expose == 'y');
                const std::size_t packed = count_of(pair.a, UCD_UCX_EVENT__PACK_END);
                if (packed != (packs ? ends.chunks() : 0)) one.fail(packed, " chunks were packed");
            });
            // No chunk went through the host.
            CHECK(pair.a.memory.most == 0);
            CHECK(pair.b.memory.most == 0);
        }
    }
}

TEST_CASE("a receiver that copies chunks has twice the device's work") {
    const DeviceSession session;
    int launches[2];
    for (const bool copy : {false, true}) {
        TwoSides pair({SMALL_RING, {"ucd.ucx.ring_copy", copy ? "yes" : "no"}});
        Case one("ucx ring copies", 0);
        RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
        mock::counts.launches = mock::counts.copies = 0;
        CHECK(transfer(one, pair, ends) == ends.chunks());
        launches[copy] = mock::counts.launches + mock::counts.copies;
        CHECK(launches[copy] >= static_cast<int>(ends.chunks()) * (copy ? 2 : 1));
    }
    CHECK(launches[true] > launches[false]);
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

TEST_CASE("active messages take the same way") {
    const DeviceSession session;
    TwoSides pair({SMALL_RING});
    run_cases("ucx ring active", 60, [&](Case &one) {
        RingEnds ends = random_ends(one);
        pair.a.events.clear();
        ucd_ucx_data_t data = nullptr;
        const auto on_message = [](void *arg, unsigned, const void *, size_t, ucd_ucx_data_t d,
                                   uint64_t, ucp_ep_h) { *static_cast<ucd_ucx_data_t *>(arg) = d; };
        ok(ucd_ucx_am_set_handler(pair.b.pipeline, on_message, &data), "set_handler");
        Outcome sent, received;
        const ucd_ucx_param_t p = sent.param(), q = received.param();
        ok(ucd_ucx_am_send_nbx(pair.a.pipeline, pair.a.ep, 5, "head", 4, ends.in.real_base(),
                               ends.from.count, ends.from.type(), &p, &sent.request),
           "ucd_ucx_am_send_nbx");
        sent.started();
        pair.until([&] { return data != nullptr; });
        for (std::size_t i = one.rng().below(20); i > 0; --i) pair.progress();
        if (one.rng().chance(20)) { // its sender does not notice
            ok(ucd_ucx_am_drop(pair.b.pipeline, data), "ucd_ucx_am_drop");
            pair.until([&] { return sent.done(); });
            return require_good(one, sent, ends.from.size(), "the sender");
        }
        ok(ucd_ucx_am_recv_nbx(pair.b.pipeline, data, ends.out.real_base(), ends.to.count,
                               ends.to.type(), &q, &received.request),
           "ucd_ucx_am_recv_nbx");
        pair.until([&] { return sent.done() && received.done(); });
        require_good(one, sent, ends.from.size(), "the sender");
        require_good(one, received, ends.from.size(), "the receiver");
        if (count_of(pair.a, UCD_UCX_EVENT__SHARE) != ends.chunks()) one.fail("it was not shared");
        ends.check(one);
    });
}

TEST_CASE("chunks go through the host if one side wants it so, or is the host") {
    const DeviceSession session;
    TwoSides pair({SMALL_RING});
    const Keys none({{"ucd.ucx.ring", "none"}});
    run_cases("ucx no ring", 100, [&](Case &one) {
        const std::size_t why = one.rng().below(4);
        RingEnds ends = random_ends(one, why == 0 ? Memory::pageable : Memory::device0,
                                    why == 1 ? Memory::managed : Memory::device0);
        const std::size_t shared = transfer(one, pair, ends, why == 2 ? none.get() : UCD_INFO__NULL,
                                            why == 3 ? none.get() : UCD_INFO__NULL);
        if (shared != 0) one.fail(shared, " chunks were shared");
    });
}

TEST_CASE("many transfers share the device memory that there is") {
    const DeviceSession session;
    TwoSides pair({SMALL_RING, {"ucd.ucx.ring_staging", "100"}});
    run_cases("ucx many rings", 20, [&](Case &one) {
        std::vector<std::unique_ptr<RingEnds>> ends;
        std::vector<std::unique_ptr<Outcome>> outcomes;
        const auto next = [&]() -> Outcome & {
            return *outcomes.emplace_back(std::make_unique<Outcome>());
        };
        for (int i = 0; i < 6; ++i) {
            ends.push_back(std::make_unique<RingEnds>(one, false, one.rng().chance(50),
                                                      Memory::device0, Memory::device0));
            start_send(pair.a, *ends.back(), next());
        }
        for (int i = 0; i < 30; ++i) pair.progress();
        for (auto &e : ends) start_receive(pair.b, *e, next());
        pair.until([&] {
            return std::all_of(outcomes.begin(), outcomes.end(), [](auto &o) { return o->done(); });
        });
        for (auto &e : ends) e->check(one);
    });
}

TEST_CASE("device memory for chunks is counted as the pages that it takes") {
    const DeviceSession session;
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

TEST_CASE("chunks on the host are pinned memory, where the user gives none") {
    const DeviceSession session;
    const Keys keys({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.ring", "none"}});
    for (const bool out_of_memory : {false, true}) {
        TwoSides pair;
        for (Side *side : {&pair.a, &pair.b}) {
            ok(ucd_ucx_pipeline_destroy(&side->pipeline), "ucd_ucx_pipeline_destroy");
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
            ok(ucd_ucx_pipeline_destroy(&side->pipeline), "ucd_ucx_pipeline_destroy");
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
        for (const char *copy : {"no", "yes"}) {
            TwoSides pair({SMALL_RING, {"ucd.ucx.ring_copy", copy}});
            Case one("ucx ring ends", 0);
            RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device1);
            CHECK(transfer(one, pair, ends) == ends.chunks());
            CHECK(mock::counts.live_allocations > 0);
        }
    } // which counts what is alive after ucd_finalize
    CHECK(mock::counts.live_opens == 0);
}
