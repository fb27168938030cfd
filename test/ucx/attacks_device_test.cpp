// Hostile messages about device memory: chunks whose lengths are lies, near 2^64, so that sums of
// them wrap, beyond the transfer, and of transfers that have failed already; and offers to read
// memory where it is, by a peer that has a link.

#include "support/device_test.hpp"
#include "ucx/offer_victim.hpp"
#include "ucx/ring_pair.hpp"

#include <ucd_memory.h>

namespace attacks_device_test {

using namespace ucdtest;

namespace {

struct Attacked {
    TwoSides pair{{SMALL_RING}};
    Attacker attacker{pair.b.address(), [this] { pair.progress(); }};
    Told told{pair.b};

    Attacked() {
        wire::Message m = attacker.new_message(wire::whole);
        m.user_id = 1;
        attacker.active(m);
        REQUIRE(attacker.within(5, [&] { return told.reply_ep != nullptr; }));
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
        pair.b.lose_endpoint(told.reply_ep);
        attacker.progress(50);
    }
};

std::string handle_of(void *memory, std::size_t bytes) {
    ucd_ipc_handle_t handle = {};
    ok(ucd_ipc_export(memory, bytes, &handle), "ucd_ipc_export");
    return {reinterpret_cast<const char *>(&handle), sizeof handle};
}

} // namespace

DEVICE_TEST("chunks of the ring that say they are longer than any memory") {
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
                start_receive(attacked.pair.b,
                              {ends.out.real_base(), truncated ? 79u : 80u, UCD_TYPE__BYTE},
                              received);
                wire::Message m = attacker.open(80);
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

namespace {

// Memory of the device 0.
struct DeviceBytes {
    void *address = nullptr;
    DeviceBytes() {
        const std::string device = std::string(mock::backend.name) + ":0";
        REQUIRE(ucd_memory_alloc(device.c_str(), UCD_MEMORY__DEVICE, offered, &address) ==
                UCD_SUCCESS);
    }
    ~DeviceBytes() { (void)ucd_memory_free(address); }
    DeviceBytes(const DeviceBytes &) = delete;
    DeviceBytes &operator=(const DeviceBytes &) = delete;
};

} // namespace

// A kernel that reads beyond a mapping costs the receiver its context.
DEVICE_TEST("hostile offers of device memory are declined, and nothing is read") {
    const DeviceBytes from, to;
    OfferVictim a;
    a.device_out = to.address;
    mock::write(from.address, a.data.data(), offered);
    const auto honest = [&](std::size_t shared) {
        DirectHeader offer = a.honest();
        offer.place.memory = DirectPlace::Memory::ipc;
        offer.place.descriptors = 0;
        offer.place.first_descriptor = 0;
        REQUIRE(ucd_ipc_export(from.address, shared, &offer.place.handle) == UCD_SUCCESS);
        return offer;
    };
    CHECK(a.takes(honest(offered))); // the others differ from it in one thing
    const struct {
        const char *what;
        std::size_t shared; // bytes
        void (*change)(DirectPlace &);
    } lies[] = {
        {"less memory than the layout needs", offered - 1, [](DirectPlace &) {}},
        {"a byte further on", offered, [](DirectPlace &p) { p.base = 1; }},
        {"behind it", offered, [](DirectPlace &p) { p.base = offered; }},
        {"before it", offered, [](DirectPlace &p) { p.base = UINT64_MAX; }},
        {"an invented handle", offered, [](DirectPlace &p) { p.handle.bytes[40] ^= 1; }},
        {"descriptors that were never passed", offered,
         [](DirectPlace &p) { p.descriptors = 2, p.first_descriptor = 1000; }},
        {"too many descriptors", offered, [](DirectPlace &p) { p.descriptors = UINT32_MAX; }},
    };
    for (const auto &lie : lies) {
        INFO(lie.what);
        DirectHeader offer = honest(lie.shared);
        lie.change(offer.place);
        CHECK_FALSE(a.takes(offer));
    }
    DirectHeader offer = honest(offered);
    offer.place.handle.bytes[40] ^= 1; // of no memory that is open
    offer.place.descriptors = 1;
    a.authenticate(offer);
    CHECK_FALSE(a.is_taken(offer, true, [&] { a.unlink(); }));
    check_usable(a.pair);
}

} // namespace attacks_device_test
