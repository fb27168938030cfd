// What is HIP's own, over HIP's headers with devices that are threads of the CPU: what versions of
// HIP say of memory, and what they promise about it.
#include "support/catch.hpp"

#include "backend.h"
#include "runtime/driver.h"

#include "support/hip_on_threads/control.h"
#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/batch_calls.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace hip_on_threads_test {

using namespace ucdtest;
using enum ucdtest::Memory;
using hip_on_threads::knobs;
using ucd::MemoryKind;

namespace {

// Memory of the mock's, or of HIP's.
struct Bytes {
    Bytes(MemoryKind kind, int device, std::size_t bytes)
        : address(static_cast<char *>(mock::allocate(kind, device, bytes))) {}
    ~Bytes() { mock::release(address); }
    Bytes(const Bytes &) = delete;
    Bytes &operator=(const Bytes &) = delete;
    char *address;
};

struct Incoherent {
    explicit Incoherent(std::size_t bytes) {
        void *memory = nullptr;
        REQUIRE(hipHostMalloc(&memory, bytes, hipHostMallocNonCoherent) == hipSuccess);
        ints = static_cast<int *>(memory);
        std::memset(memory, 0, bytes);
    }
    ~Incoherent() { (void)hipHostFree(ints); }
    Incoherent(const Incoherent &) = delete;
    Incoherent &operator=(const Incoherent &) = delete;
    int *ints = nullptr;
};

constexpr int count = 500;
constexpr std::uintptr_t packed_bytes = count * sizeof(int);

// Every other int.
struct EveryOther : BuiltType {
    EveryOther() : BuiltType(recipes::vector(count, 1, 2, recipes::leaf(UCD_TYPE__INT))) {}
};

bool has_every_other(const int *packed) {
    for (int i = 0; i < count; ++i)
        if (packed[i] != 2 * i) return false;
    return true;
}

void check_every_other(const Bytes &memory) {
    std::vector<int> packed(count);
    mock::read(packed.data(), memory.address, packed_bytes);
    CHECK(has_every_other(packed.data()));
}

// A source in device memory with the numbers from 0 on.
struct Numbers : Bytes {
    Numbers() : Bytes(MemoryKind::device, 0, 2 * packed_bytes) {
        std::vector<int> values(2 * count);
        std::iota(values.begin(), values.end(), 0);
        mock::write(address, values.data(), 2 * packed_bytes);
    }
};

ucd::MemoryLocation place_of(const void *address) {
    ucd::MemoryLocation place;
    REQUIRE(ucd::hip::driver::find(address, place).ok());
    REQUIRE(place.kind != MemoryKind::host);
    return place;
}

} // namespace

TEST_CASE("memory is of the kind that HIP says, and pageable memory is of none") {
    DeviceSession session;
    const Bytes device(MemoryKind::device, 1, 100), pinned(MemoryKind::pinned, 0, 100);
    const ucd::MemoryLocation in_device = place_of(device.address + 99);
    CHECK(in_device.kind == MemoryKind::device);
    CHECK(in_device.device == 1);
    CHECK(in_device.holds(device.address));
    CHECK_FALSE(in_device.holds(device.address + 100));
    CHECK(place_of(pinned.address).kind == MemoryKind::pinned);
    ucd::MemoryLocation place;
    int pageable = 0;
    CHECK(ucd::hip::driver::find(&pageable, place).ok());
    CHECK(place.kind == MemoryKind::host);
}

TEST_CASE("of memory that a failing driver tells nothing of, the host's is known by reading it") {
    DeviceSession session;
    const Bytes device(MemoryKind::device, 0, 100);
    int pageable = 0;
    ucd::MemoryLocation place;
    ucd::hostgpu::failing_call = 1;
    CHECK(ucd::hip::driver::find(&pageable, place).ok());
    CHECK(place.kind == MemoryKind::host);
    ucd::hostgpu::failing_call = 1;
    CHECK(ucd::hip::driver::find(device.address, place).code() == UCD_ERR__DEVICE);
    CHECK(place.kind == MemoryKind::host);
    CHECK(ucd::hostgpu::failing_call == 0);
    CHECK(place_of(device.address).kind == MemoryKind::device);
}

TEST_CASE("managed memory that does not migrate is pinned, and its range is not taken from HIP") {
    DeviceSession session;
    const Bytes migrates(MemoryKind::managed, 0, 100), stays(MemoryKind::managed, 1, 100);
    for (const bool reserved : {false, true}) {
        knobs.reserves = reserved;
        CHECK(place_of(migrates.address).kind == MemoryKind::managed);
        CHECK(place_of(stays.address).kind == MemoryKind::pinned);
        CHECK_FALSE(place_of(stays.address).holds(stays.address + 100));
        CHECK_FALSE(place_of(migrates.address).holds(migrates.address + 100));
    }
    knobs.reserves = false;
}

TEST_CASE("memory is moved whose range HIP will not tell") {
    DeviceSession session;
    const Numbers numbers;
    const EveryOther every_other;
    const Bytes target(MemoryKind::device, 1, packed_bytes);
    knobs.hides_ranges = true;
    const ucd::MemoryLocation place = place_of(target.address);
    CHECK(place.kind == MemoryKind::device);
    CHECK_FALSE(place.holds(target.address + 1));
    pack_now(numbers.address, 1, every_other.get(), 0, target.address, packed_bytes);
    knobs.hides_ranges = false;
    check_every_other(target);
}

TEST_CASE("asking about memory leaves no error behind for the program") {
    DeviceSession session;
    int in[4] = {1, 2, 3, 4}, out[4] = {};
    (void)hipGetLastError();
    pack_now(in, 4, UCD_TYPE__INT, 0, out, sizeof out);
    CHECK(hipGetLastError() == hipSuccess);
}

TEST_CASE("host memory is moved without HIP until somebody has initialised it") {
    int in[4] = {1, 2, 3, 4}, out[4] = {};
    knobs.uninitialised = true;
    const int before = hip_on_threads::calls;
    pack_now(in, 4, UCD_TYPE__INT, 0, out, sizeof out);
    CHECK(hip_on_threads::calls == before);
    knobs.uninitialised = false;
    CHECK(out[3] == 4);
}

TEST_CASE("a call leaves the current device as it was") {
    DeviceSession session;
    for (const int device : {1, 0}) {
        REQUIRE(hipSetDevice(device) == hipSuccess);
        StridedMove move("current", 700, device0, device1);
        move.pack_and_check();
        int now = -1;
        CHECK(hipGetDevice(&now) == hipSuccess);
        CHECK(now == device);
    }
}

TEST_CASE("what has come to non-coherent memory is there when a request is complete") {
    DeviceSession session;
    const Numbers numbers;
    const EveryOther every_other;
    // More requests at a time than there are streams for them: events mark the end of the others.
    constexpr std::size_t requests = 24;
    const Incoherent target(requests * packed_bytes);
    std::vector<ucd_request_t> request(requests, UCD_REQUEST__NULL);
    std::uintptr_t actual = 0;
    mock::hold();
    for (std::size_t i = 0; i < requests; ++i)
        REQUIRE(ucd_ipack(numbers.address, 1, every_other.get(), 0, target.ints + i * count,
                          packed_bytes, &actual, UCD_INFO__NULL, UCD_OP__REPLACE,
                          &request[i]) == UCD_SUCCESS);
    mock::let_go();
    for (std::size_t i = 0; i < requests; ++i) {
        REQUIRE(ucd_wait(&request[i]) == UCD_SUCCESS);
        CHECK(has_every_other(target.ints + i * count));
    }
}

TEST_CASE("what the host has written to non-coherent memory is moved, by kernels and by engines") {
    DeviceSession session;
    const EveryOther every_other;
    const Incoherent source(2 * packed_bytes);
    std::iota(source.ints, source.ints + 2 * count, 0);
    const Bytes target(MemoryKind::device, 0, packed_bytes);
    for (const char *engine : {"kernel", "dma"}) {
        const Keys info({{"ucd.engine", engine}});
        pack_now(source.ints, 1, every_other.get(), 0, target.address, packed_bytes, info);
        check_every_other(target);
    }
}

TEST_CASE("a stream is ordered with HIP's default one where that is what is given") {
    DeviceSession session;
    const Numbers numbers;
    const EveryOther every_other;
    const Bytes target(MemoryKind::device, 0, packed_bytes);
    std::uintptr_t actual = 0;
    REQUIRE(hipSetDevice(0) == hipSuccess);
    REQUIRE(ucd_pack_stream(numbers.address, 1, every_other.get(), 0, target.address, packed_bytes,
                            &actual, UCD_INFO__NULL, UCD_OP__REPLACE,
                            {"hip", 0, nullptr, nullptr}) == UCD_SUCCESS);
    REQUIRE(hipStreamSynchronize(nullptr) == hipSuccess);
    check_every_other(target);
}

TEST_CASE("a batch is captured where HIP's graphs can keep it, and else refused") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors batch(300);
    for (const Subject &s : batch.subjects) prepare(stream, s.type());
    int status = UCD_SUCCESS;
    const ucd::hostgpu::Graph graph =
        ucd::hostgpu::captured(stream, [&] { status = start_in(stream, batch.moves.packs()); });
    if (HIP_VERSION >= 50300000) {
        CHECK(status == UCD_SUCCESS);
        CHECK(graph.kept.size() == 1);
    } else {
        CHECK(status == UCD_ERR__NOT_SUPPORTED);
        CHECK(std::string(ucd_last_error()).find("5.3") != std::string::npos);
    }
}

TEST_CASE("access to memory of pools and of mapped ranges is asked for") {
    for (const bool ranges : {false, true}) {
        for (const bool granted : {false, true}) {
            REQUIRE(ucd_finalize() == UCD_SUCCESS);
            mock::knobs.pools = true;
            mock::knobs.pools_for_peers = granted;
            knobs.rights_are_of_ranges = ranges;
            REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
            const Bytes memory(MemoryKind::device, 0, 100);
            const ucd::MemoryLocation place = place_of(memory.address + 4);
            CHECK(place.own_access);
            CHECK_FALSE(place.holds(memory.address));
            CHECK(ucd::hip::driver::has_access(1, place) == granted);
            CHECK(ucd::hip::driver::has_access(0, place));
        }
    }
    mock::knobs.pools = mock::knobs.pools_for_peers = false;
    knobs.rights_are_of_ranges = false;
}

TEST_CASE("a launch has less than 2^32 threads, however much work there is") {
    DeviceSession session;
    mock::knobs.failing_launch = 1; // of what it would launch, only the number counts
    const hipError_t refused =
        gpuLaunchKernel(nullptr, dim3((1u << 31) - 1), dim3(256), nullptr, 0, nullptr);
    CHECK(refused == hipErrorUnknown); // as it was told to, not for its blocks
    CHECK(hip_on_threads::blocks_launched == (1u << 24) - 1);
}

TEST_CASE("the version is HIP's, and devices are those that there is code for") {
    const ucd::BackendState &state = ucd::hip::driver::initialise();
    CHECK(state.available);
    CHECK(state.devices == mock::device_count);
    CHECK(state.version == (HIP_VERSION_MAJOR >= 6 ? "6.0"
                                                   : std::to_string(HIP_VERSION_MAJOR) + "." +
                                                         std::to_string(HIP_VERSION_MINOR)));
}

} // namespace hip_on_threads_test
