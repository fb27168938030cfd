// Chunks in device memory whose lengths are lies: near 2^64, so that sums of them wrap, beyond the
// transfer, and of transfers that have failed already.

#include "ucx/attacker.hpp"
#include "ucx/ring_pair.hpp"

#include <ucd_memory.h>

namespace attacks_ring_test {

using namespace ucdtest;

namespace {

struct Attacked {
    TwoSides pair{{SMALL_RING}};
    Attacker attacker{pair.b.address(), [this] { pair.progress(); }};
    ucp_ep_h reply_ep = nullptr;

    Attacked() {
        ok(ucd_ucx_am_set_handler(
               pair.b.pipeline,
               [](void *arg, unsigned, const void *, size_t, ucd_ucx_data_t, uint64_t,
                  ucp_ep_h ep) { *static_cast<ucp_ep_h *>(arg) = ep; },
               &reply_ep),
           "ucd_ucx_am_set_handler");
        wire::Message m;
        m.id = attacker.new_id();
        attacker.active(m);
        REQUIRE(attacker.within(5, [&] { return reply_ep != nullptr; }));
    }
    // Ring messages bring a receipt of 8 bytes.
    void ring(wire::Message m, const std::string &handle, std::uint64_t bytes) {
        m.kind = wire::ring_chunk;
        m.user_header = wire::ring_place(handle, 0, bytes);
        attacker.active_by_rendezvous(m, std::string(8, 'r'));
    }
    // Offers the host and the ring.
    void offer(wire::Message m, const std::string &handle) {
        m.kind = wire::route;
        for (const unsigned route : {wire::host_route, wire::ring_route}) {
            m.status = wire::route_status(route);
            if (route == wire::ring_route) m.user_header = wire::ring_place(handle, 0, 0);
            attacker.active_by_rendezvous(m, std::string(8, '\0'));
        }
    }
    void lose() {
        ok(ucd_ucx_lose_endpoint(pair.b.pipeline, reply_ep, UCS_ERR_CONNECTION_RESET), "lose");
        attacker.progress(50);
    }
};

std::string handle_of(void *memory, std::size_t bytes) {
    ucd_ipc_handle_t handle = {};
    ok(ucd_ipc_export(memory, bytes, &handle), "ucd_ipc_export");
    return {reinterpret_cast<const char *>(&handle), sizeof handle};
}

} // namespace

TEST_CASE("chunks of the ring that say they are longer than any memory") {
    const DeviceSession session;
    Attacked attacked;
    Attacker &attacker = attacked.attacker;
    const std::uint64_t most = UINT64_MAX;
    const std::vector<std::vector<std::uint64_t>> lengths = {
        {most},
        {most - 79},
        {most - 80, 81},
        {40, most - 39, 40},
        {40, most - 19, 60},
        {std::uint64_t{1} << 63, std::uint64_t{1} << 63, 80}};
    std::size_t before = 0;
    for (int round = 0; round < 20; ++round) {
        for (const auto &said : lengths) {
            for (const bool truncated : {false, true}) {
                Case one("ucx ring attack", 0);
                RingEnds ends(one, true, true, Memory::device0, Memory::device0);
                const std::string handle = handle_of(ends.in.real_base(), 80);
                Outcome received;
                const ucd_ucx_param_t p = received.param();
                ok(ucd_ucx_recv_nbx(attacked.pair.b.pipeline, ends.out.real_base(),
                                    truncated ? 79 : 80, UCD_TYPE__BYTE, 1, UINT64_MAX, &p,
                                    &received.request),
                   "ucd_ucx_recv_nbx");
                wire::Message m;
                m.id = attacker.new_id();
                m.total = 80;
                m.kind = wire::offer;
                attacker.active(m);
                m.kind = wire::opening;
                attacker.tagged(m);
                attacked.offer(m, handle);
                attacker.progress(20);
                for (const std::uint64_t bytes : said) {
                    attacked.ring(m, handle, bytes);
                    attacker.progress(10);
                }
                m.kind = wire::withdraw;
                m.status = 1;
                attacker.active(m);
                REQUIRE(attacker.within(2, [&] { return received.done(); }));
                CHECK(received.result.status != UCS_OK);
                m.kind = wire::chunk; // too late
                m.status = 0;
                attacker.active(m, std::string(10, 'l'));
                attacker.progress(10);
            }
        }
        attacked.lose();
        if (round == 9) before = heap_bytes(); // what is kept for good has come by then
    }
    // Of 120 transfers, some hundred bytes each would be more.
    const std::size_t now = heap_bytes();
    INFO("from " << before << " to " << now << " bytes");
    CHECK(now < before + 8192);
    Case one("ucx ring is usable", 0);
    RingEnds ends(one, false, false, Memory::device0, Memory::device0);
    CHECK(transfer(one, attacked.pair, ends) == ends.chunks());
}

} // namespace attacks_ring_test
