// Memory for packed messages on a device, and in pinned memory of the host. The functions of libucd
// that allocate are this test's: nothing is written to their blocks.

#include "preload/packed_memory.h"
#include "support/catch.hpp"

#include <ucd_memory.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace {

struct Block {
    int kind;
    std::uintptr_t bytes;
};
std::map<void *, Block> blocks;
bool has_device_memory = true, has_pinned_memory = true;
int refusals = 0; // what is refused next, though there is memory
int asked = 0;    // how often libucd was asked for memory
int frees_of_others = 0;

std::uintptr_t bytes_in(int kind) {
    std::uintptr_t bytes = 0;
    for (const auto &[address, block] : blocks)
        if (block.kind == kind) bytes += block.bytes;
    return bytes;
}

} // namespace

extern "C" {

int ucd_memory_alloc(const char *, int kind, uintptr_t bytes, void **address) {
    ++asked;
    if (!(kind == UCD_MEMORY__DEVICE ? has_device_memory : has_pinned_memory))
        return UCD_ERR__OUT_OF_MEM;
    if (refusals > 0) {
        --refusals;
        return UCD_ERR__OUT_OF_MEM;
    }
    static std::uintptr_t next = std::uintptr_t{1} << 46;
    *address = reinterpret_cast<void *>(std::exchange(next, next + bytes));
    blocks[*address] = {kind, bytes};
    return UCD_SUCCESS;
}

int ucd_memory_free(void *address) {
    frees_of_others += blocks.erase(address) == 0;
    return UCD_SUCCESS;
}

} // extern "C"

namespace packed_memory_device_test {

using ucd_mpi::DeviceRoute;
using ucd_mpi::NamedDevice;
using ucd_mpi::PackedMemory;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Each test has a device of its own, since blocks are kept.
struct Device {
    Device() {
        static std::vector<NamedDevice *> all;
        all.push_back(new NamedDevice{"hostgpu:0", true});
        on_device = {.device = all.back(), .stays_there = true};
        pinned = {.device = all.back()};
        blocks.clear();
        has_device_memory = has_pinned_memory = true;
        refusals = asked = frees_of_others = 0;
    }
    ~Device() { CHECK(frees_of_others == 0); }
    DeviceRoute on_device, pinned;
};

// Of the block that it is in, or -1.
int kind_of(const PackedMemory &memory) {
    const auto next = blocks.upper_bound(memory.data());
    if (next == blocks.begin()) return -1;
    const auto &[address, block] = *std::prev(next);
    const char *const end = static_cast<const char *>(address) + block.bytes;
    return static_cast<const char *>(memory.data()) < end ? block.kind : -1;
}

} // namespace

TEST_CASE("packed memory: in the memory of the route") {
    const Device device;
    const PackedMemory there(5000, device.on_device), pinned(5000, device.pinned), pageable(5000);
    CHECK(kind_of(there) == UCD_MEMORY__DEVICE);
    CHECK(there.on_device());
    CHECK(kind_of(pinned) == UCD_MEMORY__PINNED);
    CHECK(!pinned.on_device());
    CHECK(kind_of(pageable) == -1);
    CHECK(pageable.data() != nullptr);
    CHECK(!PackedMemory(0, device.on_device).on_device());
}

TEST_CASE("packed memory: blocks are used again in their own memory only") {
    const Device device, other;
    const void *there = nullptr, *pinned = nullptr;
    {
        const PackedMemory first(5000, device.on_device), second(5000, device.pinned);
        there = first.data();
        pinned = second.data();
    }
    const PackedMemory elsewhere(5000, other.on_device);
    CHECK(elsewhere.data() != there);
    CHECK(PackedMemory(5000).data() != pinned);
    CHECK(PackedMemory(5000, device.pinned).data() == pinned);
    CHECK(PackedMemory(4097, device.on_device).data() == there);
    CHECK(blocks.size() == 3);
}

TEST_CASE("packed memory: small blocks are parts of blocks of 2 MiB, which stay") {
    const Device device;
    {
        std::vector<PackedMemory> all;
        for (std::size_t bytes = 0; bytes < 4 * mib; bytes += mib / 4)
            all.emplace_back(mib / 4, device.on_device);
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) CHECK(all[i].data() != all[j].data());
        CHECK(blocks.size() == 2);
        CHECK(bytes_in(UCD_MEMORY__DEVICE) == 4 * mib);
    }
    refusals = 1;
    const PackedMemory large(2 * mib, device.on_device);
    CHECK(kind_of(large) == UCD_MEMORY__PINNED);
    CHECK(bytes_in(UCD_MEMORY__DEVICE) == 4 * mib);
}

TEST_CASE(
    "packed memory: pinned if the device has none, and pageable if there is no pinned memory") {
    const Device device;
    has_device_memory = false;
    const PackedMemory pinned(5 * mib, device.on_device);
    CHECK(kind_of(pinned) == UCD_MEMORY__PINNED);
    CHECK(!pinned.on_device());
    CHECK(asked == 2); // nothing is kept that could be freed before the device is asked again
    has_pinned_memory = false;
    for (const DeviceRoute route : {device.on_device, device.pinned}) {
        const PackedMemory pageable(6 * mib, route);
        CHECK(pageable.data() != nullptr);
        CHECK(kind_of(pageable) == -1);
        CHECK(!pageable.on_device());
    }
    // They are given back to where they came from.
    has_pinned_memory = true;
    CHECK(kind_of(PackedMemory(6 * mib, device.on_device)) == UCD_MEMORY__PINNED);
}

TEST_CASE("packed memory: kept blocks are freed if there is no other memory") {
    const Device device;
    for (const DeviceRoute route : {device.on_device, device.pinned}) {
        blocks.clear();
        { const PackedMemory small(2 * mib, route), middle(3 * mib, route), used(5 * mib, route); }
        CHECK(blocks.size() == 3);
        refusals = 1;
        const PackedMemory large(9 * mib, route);
        CHECK(blocks.size() == 1);
        CHECK(kind_of(large) == (route.stays_there ? UCD_MEMORY__DEVICE : UCD_MEMORY__PINNED));
    }
}

TEST_CASE("packed memory: so much is kept of each memory") {
    const Device device;
    const auto use = [](DeviceRoute route, std::size_t bytes, std::size_t size) {
        std::vector<PackedMemory> all;
        for (std::size_t used = 0; used < bytes; used += size) all.emplace_back(size, route);
    };
    use(device.pinned, 400 * mib, 16 * mib);
    CHECK(bytes_in(UCD_MEMORY__PINNED) == 256 * mib);
    use(device.on_device, 800 * mib, 16 * mib);
    CHECK(bytes_in(UCD_MEMORY__DEVICE) == 512 * mib);
    // A large block takes the place of others, the smallest first; one that is too large is not
    // kept.
    use(device.on_device, 1, 256 * mib);
    CHECK(bytes_in(UCD_MEMORY__DEVICE) == 512 * mib);
    const std::size_t before = blocks.size();
    const PackedMemory large(256 * mib, device.on_device);
    CHECK(blocks.size() == before);
    use(device.on_device, 1, 1024 * mib);
    CHECK(bytes_in(UCD_MEMORY__DEVICE) == 512 * mib);
    CHECK(blocks.size() == before);
}

TEST_CASE("packed memory: the smallest blocks make room for a large one") {
    const Device device;
    {
        const PackedMemory large(256 * mib, device.on_device), middle(128 * mib, device.on_device),
            small(2 * mib, device.on_device), other(4 * mib, device.on_device);
    }
    { const PackedMemory last(128 * mib, device.on_device); } // used again
    CHECK(blocks.size() == 4);
    { const PackedMemory one(128 * mib, device.on_device), two(128 * mib, device.on_device); }
    CHECK(blocks.size() == 3);
    CHECK(bytes_in(UCD_MEMORY__DEVICE) == 512 * mib);
}

} // namespace packed_memory_device_test
