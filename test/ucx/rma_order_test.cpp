// Which operation comes before which: accumulates that are in each other's way, fences, flushes.

#include "support/device_test.hpp"
#include "ucx/deadline.hpp"
#include "ucx/rma_pair.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

namespace rma_order_test {

using namespace ucdtest;

namespace {

// Longs in a memory of any kind.
class Longs {
public:
    Longs(Memory memory, std::size_t count) : memory_(memory), values_(count, 0) {
        if (memory == Memory::pageable) return;
        const bool device = on_device(memory);
        real_ = mock::allocate(device ? ucd::MemoryKind::device : ucd::MemoryKind::pinned,
                               memory == Memory::device1 ? 1 : 0, bytes());
        mock::write(real_, values_.data(), bytes());
    }
    ~Longs() {
        if (real_ != nullptr) mock::release(real_);
    }
    void *data() { return real_ != nullptr ? real_ : values_.data(); }
    std::size_t bytes() const { return values_.size() * sizeof(long); }
    const std::vector<long> &values() {
        if (real_ != nullptr) mock::read(values_.data(), real_, bytes());
        return values_;
    }

private:
    const Memory memory_;
    std::vector<long> values_;
    void *real_ = nullptr;
};

// An endpoint of b with itself: a second origin.
ucp_ep_h connect_with_itself(Side &side) {
    const std::string address = side.address();
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t *>(address.data());
    ucp_ep_h ep;
    ucx(ucp_ep_create(side.worker, &params, &ep), "ucp_ep_create");
    return ep;
}

void disconnect(RmaSide &side, ucp_ep_h ep) {
    ok(ucd_ucx_lose_endpoint(side.rma, ep, UCS_ERR_CANCELED), "lose");
    ucp_request_param_t params = {};
    const ucs_status_ptr_t request = ucp_ep_close_nbx(ep, &params);
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucd_ucx_progress(side.rma);
    ucp_request_free(request);
}

bool all_done(const std::vector<std::unique_ptr<Outcome>> &outcomes) {
    return std::all_of(outcomes.begin(), outcomes.end(), [](const auto &o) { return o->done(); });
}

} // namespace

DEVICE_TEST("fetch and add gives each number once, whoever asks and wherever it is") {
    RmaPair pair(small_chunks);
    const ucp_ep_h self = connect_with_itself(pair.b.side);
    // One message; and chunks that take their time.
    for (const Memory memory : {Memory::pageable, Memory::device0, Memory::device1}) {
        for (const std::size_t longs : {std::size_t{5}, std::size_t{1000}}) {
            mock::knobs.delay_us = on_device(memory) ? 20 : 0;
            Longs counters(memory, longs);
            const Window window(pair.b, counters.data(), counters.bytes());
            const std::vector<long> ones(longs, 1);
            constexpr std::size_t rounds = 24;
            std::vector<std::vector<long>> old(rounds, std::vector<long>(longs, -1));
            std::vector<std::unique_ptr<Outcome>> outcomes;
            for (std::size_t r = 0; r < rounds; ++r) {
                Outcome &o = *outcomes.emplace_back(std::make_unique<Outcome>());
                const ucd_ucx_param_t p = o.param();
                RmaSide &from = r % 2 ? pair.a : pair.b;
                ok(ucd_ucx_get_accumulate_nbx(from.rma, r % 2 ? pair.a.ep() : self, ones.data(),
                                              longs, UCD_TYPE__LONG, old[r].data(), longs,
                                              UCD_TYPE__LONG, window.key(), 0, longs,
                                              UCD_TYPE__LONG, UCD_OP__SUM, &p, &o.request),
                   "get_accumulate");
            }
            pair.until([&] { return all_done(outcomes); });
            for (const auto &o : outcomes) CHECK(o->result.status == UCS_OK);
            CHECK(counters.values() == std::vector<long>(longs, rounds));
            for (std::size_t i = 0; i < longs; ++i) {
                std::vector<long> seen;
                for (const auto &one : old) seen.push_back(one[i]);
                std::sort(seen.begin(), seen.end());
                std::vector<long> expected(rounds);
                std::iota(expected.begin(), expected.end(), 0);
                REQUIRE(seen == expected);
            }
        }
    }
    mock::knobs.delay_us = 0;
    disconnect(pair.b, self);
}

DEVICE_TEST("large accumulates of different layouts add up") {
    RmaPair pair(small_chunks);
    const ucp_ep_h self = connect_with_itself(pair.b.side);
    constexpr std::size_t longs = 4000;
    for (const Memory memory : {Memory::pageable, Memory::device0}) {
        Longs sums(memory, longs);
        const Window window(pair.b, sums.data(), sums.bytes());
        // Backwards, every other one, and all.
        ucd_type_t types[3];
        REQUIRE(ucd_create_hvector(longs, 1, -8, UCD_TYPE__LONG, UCD_INFO__NULL, &types[0]) ==
                UCD_SUCCESS);
        REQUIRE(ucd_create_vector(longs / 2, 1, 2, UCD_TYPE__LONG, UCD_INFO__NULL, &types[1]) ==
                UCD_SUCCESS);
        REQUIRE(ucd_create_contig(longs, UCD_TYPE__LONG, UCD_INFO__NULL, &types[2]) == UCD_SUCCESS);
        const std::intptr_t displacements[] = {8 * (longs - 1), 8, 0};
        const std::size_t counts[] = {longs, longs / 2, longs};
        std::vector<long> in(longs);
        std::iota(in.begin(), in.end(), 1);
        std::vector<long> expected(longs, 0);
        std::vector<std::unique_ptr<Outcome>> outcomes;
        for (std::size_t round = 0; round < 18; ++round) {
            const std::size_t t = round % 3;
            for (std::size_t i = 0; i < counts[t]; ++i)
                expected[t == 0 ? longs - 1 - i : t == 1 ? 2 * i + 1 : i] += in[i];
            Outcome &o = *outcomes.emplace_back(std::make_unique<Outcome>());
            const ucd_ucx_param_t p = o.param();
            RmaSide &from = round % 2 ? pair.a : pair.b;
            ok(ucd_ucx_accumulate_nbx(from.rma, round % 2 ? pair.a.ep() : self, in.data(),
                                      counts[t], UCD_TYPE__LONG, window.key(), displacements[t], 1,
                                      types[t], UCD_OP__SUM, &p, &o.request),
               "accumulate");
        }
        pair.until([&] { return all_done(outcomes); });
        for (const auto &o : outcomes) CHECK(o->result.status == UCS_OK);
        CHECK(sums.values() == expected);
        for (ucd_type_t &type : types) REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    }
    disconnect(pair.b, self);
}

DEVICE_TEST("what is started behind a fence comes after what is before it") {
    RmaPair pair(small_chunks);
    std::vector<long> memory(5000, 0);
    const Window window(pair.b, memory.data(), memory.size() * sizeof(long));
    // Large ones first, which take longer than the small ones behind them.
    for (const bool all : {false, true}) {
        std::vector<std::vector<long>> in, out;
        for (long round = 0; round < 6; ++round) {
            in.emplace_back(round % 2 ? 3 : 5000, 100 + round);
            out.emplace_back(5000, -1);
        }
        for (std::size_t round = 0; round < 6; ++round) {
            const std::size_t n = in[round].size();
            ucd_ucx_request_t request;
            ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), in[round].data(), n, UCD_TYPE__LONG,
                               window.key(), 0, n, UCD_TYPE__LONG, nullptr, &request),
               "put");
            ucd_ucx_request_free(request);
            ok(ucd_ucx_fence(pair.a.rma, all ? nullptr : pair.a.ep()), "fence");
            ok(ucd_ucx_fence(pair.a.rma, all ? nullptr : pair.a.ep()), "a second fence");
            ok(ucd_ucx_get_nbx(pair.a.rma, pair.a.ep(), out[round].data(), 5000, UCD_TYPE__LONG,
                               window.key(), 0, 5000, UCD_TYPE__LONG, nullptr, &request),
               "get");
            ucd_ucx_request_free(request);
            ok(ucd_ucx_fence(pair.a.rma, all ? nullptr : pair.a.ep()), "fence");
        }
        pair.flush();
        std::vector<long> expected(5000, 0);
        for (std::size_t round = 0; round < 6; ++round) {
            std::copy(in[round].begin(), in[round].end(), expected.begin());
            CHECK(out[round] == expected);
        }
    }
    ucd_ucx_request_t none = reinterpret_cast<ucd_ucx_request_t>(1);
    ok(ucd_ucx_flush_nbx(pair.a.rma, pair.a.ep(), nullptr, &none), "flush");
    CHECK(none == UCD_UCX_REQUEST__NULL);
}

DEVICE_TEST("a flush waits for what was started, and says whether it failed") {
    RmaPair pair(small_chunks);
    std::vector<char> memory(3000, 0), in(3000, 'i');
    const Window window(pair.b, memory.data(), memory.size());
    Outcome good, bad, flushed, of_nothing;
    const ucd_ucx_param_t f = flushed.param(), n = of_nothing.param();
    ok(ucd_ucx_flush_nbx(pair.a.rma, nullptr, &n, &of_nothing.request), "flush");
    CHECK(of_nothing.request == UCD_UCX_REQUEST__NULL);
    start_put(pair.a, {in.data(), 3000, UCD_TYPE__CHAR}, {window.key(), 0, 3000, UCD_TYPE__CHAR},
              good);
    start_put(pair.a, {in.data(), 10, UCD_TYPE__CHAR}, {window.key(), 2995, 10, UCD_TYPE__CHAR},
              bad);
    ok(ucd_ucx_flush_nbx(pair.a.rma, pair.a.ep(), &f, &flushed.request), "flush");
    CHECK(flushed.request != UCD_UCX_REQUEST__NULL);
    pair.until([&] { return flushed.done(); });
    CHECK(good.result.status == UCS_OK);
    CHECK(bad.result.status == UCS_ERR_OUT_OF_RANGE);
    CHECK(flushed.result.status == UCS_ERR_OUT_OF_RANGE);
    CHECK(memory == in);
    CHECK(of_nothing.calls == 0);
}

DEVICE_TEST("threads count with the same two workers") {
    RmaPair pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}}, UCS_THREAD_MODE_MULTI);
    constexpr std::size_t longs = 300;
    constexpr long rounds = 60, threads = 4;
    std::vector<long> counters(longs, 0);
    const Window window(pair.b, counters.data(), longs * sizeof(long));
    std::atomic<long> good = 0;
    const auto count = [&] {
        std::vector<long> ones(longs, 1), old(longs);
        for (long r = 0; r < rounds; ++r) {
            const std::size_t n = r % 2 ? longs : 2;
            ucd_ucx_request_t request;
            if (ucd_ucx_get_accumulate_nbx(pair.a.rma, pair.a.ep(), ones.data(), n, UCD_TYPE__LONG,
                                           old.data(), n, UCD_TYPE__LONG, window.key(), 0, n,
                                           UCD_TYPE__LONG, UCD_OP__SUM, nullptr,
                                           &request) != UCD_SUCCESS)
                return;
            Deadline limit(30);
            while (ucd_ucx_request_check(request, nullptr) == UCS_INPROGRESS) {
                ucd_ucx_progress(pair.a.rma);
                ucd_ucx_progress(pair.b.rma);
                if (limit.has_passed()) return;
            }
            good += ucd_ucx_request_check(request, nullptr) == UCS_OK;
            ucd_ucx_request_free(request);
        }
    };
    std::vector<std::thread> all;
    for (long t = 0; t < threads; ++t) all.emplace_back(count);
    for (std::thread &t : all) t.join();
    CHECK(good == threads * rounds);
    for (std::size_t i = 0; i < longs; ++i)
        REQUIRE(counters[i] == (i < 2 ? threads * rounds : threads * rounds / 2));
}

} // namespace rma_order_test
