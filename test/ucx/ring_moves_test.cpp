// Transfers whose chunks stay in device memory: two pipelines of one process, where the memory is
// opened at its own address. With each kind of device whose memory can be shared, a GPU's included.

#include "support/device_test.hpp"
#include "ucx/ring_pair.hpp"

#include <cstdint>
#include <memory>

namespace ring_moves_test {

using namespace ucdtest;

DEVICE_TEST("chunks between devices stay in device memory") {
    for (const char *expose : {"no", "yes"}) {
        TwoSides pair({SMALL_RING, {"ucd.ucx.ring_expose", expose}});
        run_cases("ucx ring", 100, [&](Case &one) {
            RingEnds ends = random_ends(one);
            // The sides take turns on a device that they know to be the same.
            const auto unknown = [](int) -> std::uint64_t { return 0; };
            mock::knobs.identity = one.rng().chance(50) ? +unknown : nullptr;
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

DEVICE_TEST("active messages take the same way") {
    TwoSides pair({SMALL_RING});
    run_cases("ucx ring active", 60, [&](Case &one) {
        RingEnds ends = random_ends(one);
        pair.a.events.clear();
        Told told(pair.b);
        Outcome sent, received;
        start_active(pair.a, {ends.in.real_base(), ends.from.count, ends.from.type()}, sent, "head",
                     5);
        pair.until([&] { return told.times > 0; });
        for (std::size_t i = one.rng().below(20); i > 0; --i) pair.progress();
        if (one.rng().chance(20)) { // its sender does not notice
            ok(ucd_ucx_am_drop(pair.b.pipeline, told.data), "ucd_ucx_am_drop");
            pair.until([&] { return sent.done(); });
            return require_good(one, sent, ends.from.size(), "the sender");
        }
        start_receive_active(pair.b, told.data,
                             {ends.out.real_base(), ends.to.count, ends.to.type()}, received);
        pair.until([&] { return sent.done() && received.done(); });
        require_good(one, sent, ends.from.size(), "the sender");
        require_good(one, received, ends.from.size(), "the receiver");
        if (count_of(pair.a, UCD_UCX_EVENT__SHARE) != ends.chunks()) one.fail("it was not shared");
        ends.check(one);
    });
}

DEVICE_TEST("chunks go through the host if one side wants it so, or is the host") {
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

DEVICE_TEST("many transfers share the device memory that there is") {
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

} // namespace ring_moves_test
