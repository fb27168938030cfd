// Hostile offers to read device memory where it is, by a peer that has a link.

#include "support/device_test.hpp"
#include "ucx/offer_victim.hpp"

#include <string>
#include <ucd_memory.h>

namespace attacks_direct_device_test {

using namespace ucdtest;

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
    {
        DirectHeader offer = honest(offered);
        a.authenticate(offer);
        CHECK(a.is_taken(offer)); // the others differ from it in one thing
    }
    const auto check = [&](const char *what, DirectHeader offer, auto &&change) {
        INFO(what);
        change(offer);
        a.authenticate(offer);
        CHECK_FALSE(a.is_taken(offer));
    };
    check("less memory than the layout needs", honest(offered - 1), [](DirectHeader &) {});
    check("a byte further on", honest(offered), [](DirectHeader &o) { o.place.base = 1; });
    check("behind it", honest(offered), [](DirectHeader &o) { o.place.base = offered; });
    check("before it", honest(offered), [](DirectHeader &o) { o.place.base = UINT64_MAX; });
    check("an invented handle", honest(offered),
          [](DirectHeader &o) { o.place.handle.bytes[40] ^= 1; });
    check("descriptors that were never passed", honest(offered),
          [](DirectHeader &o) { o.place.descriptors = 2, o.place.first_descriptor = 1000; });
    check("too many descriptors", honest(offered),
          [](DirectHeader &o) { o.place.descriptors = UINT32_MAX; });
    DirectHeader offer = honest(offered);
    offer.place.handle.bytes[40] ^= 1; // of no memory that is open
    offer.place.descriptors = 1;
    a.authenticate(offer);
    CHECK_FALSE(a.is_taken(offer, true, [&] { a.unlink(); }));
    check_usable(a.pair);
}

} // namespace attacks_direct_device_test
