// Memory of devices that users have and share, within one process. Between processes:
// ucx/ring_processes_test.cpp.
#include "support/catch.hpp"

#include "backend.h"
#include "support/device_memory.h"

#include "support/host_vendor/capture.h"
#include "support/moves/strided_move.hpp"

#include <ucd_memory.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace hostgpu_memory_test {

using namespace ucdtest;

namespace {

std::string device(int number) {
    return std::string(mock::backend.name) + ":" + std::to_string(number);
}

struct DeviceBytes {
    void *address = nullptr;
    DeviceBytes(int number, std::size_t bytes) {
        REQUIRE(ucd_memory_alloc(device(number).c_str(), UCD_MEMORY__DEVICE, bytes, &address) ==
                UCD_SUCCESS);
    }
    ~DeviceBytes() {
        if (address != nullptr) CHECK(ucd_memory_free(address) == UCD_SUCCESS);
    }
    DeviceBytes(const DeviceBytes &) = delete;
    DeviceBytes &operator=(const DeviceBytes &) = delete;
    char *at(std::size_t offset) const { return static_cast<char *>(address) + offset; }
};

ucd_ipc_handle_t exported(const void *address, std::size_t bytes) {
    ucd_ipc_handle_t handle = {};
    REQUIRE(ucd_ipc_export(address, bytes, &handle) == UCD_SUCCESS);
    return handle;
}

int open_on(int number, const ucd_ipc_handle_t &handle, void **address, std::uintptr_t *bytes) {
    return ucd_ipc_open(&handle, device(number).c_str(), address, bytes);
}

std::uint64_t fnv_1a(std::span<const unsigned char> bytes) {
    std::uint64_t sum = 0xcbf29ce484222325u;
    for (const unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3u;
    return sum;
}

// As if libucd had exported the handle with these bytes.
void set_checksum(ucd_ipc_handle_t &handle) {
    constexpr std::size_t check_at = 4, checked_from = 8;
    const std::uint64_t sum = fnv_1a(std::span(handle.bytes).subspan(checked_from));
    const auto check = static_cast<std::uint32_t>(sum ^ sum >> 32);
    std::memcpy(handle.bytes + check_at, &check, sizeof check);
}

// The name of the handle's device, or the status.
std::string device_of(const ucd_ipc_handle_t &handle) {
    char name[32] = "";
    std::uintptr_t needed = 0;
    const int status = ucd_ipc_get_device(&handle, name, sizeof name, &needed);
    return status == UCD_SUCCESS ? name : std::to_string(status);
}
const std::string not_known = std::to_string(UCD_ERR__NOT_SUPPORTED);

} // namespace

TEST_CASE("ucd_memory_alloc gives memory of the kind and device that was asked for") {
    DeviceSession session;
    for (const int number : {0, 1}) {
        for (const int kind : {UCD_MEMORY__DEVICE, UCD_MEMORY__PINNED}) {
            const int live = mock::counts.live_allocations;
            void *memory = nullptr;
            REQUIRE(ucd_memory_alloc(device(number).c_str(), kind, 1000, &memory) == UCD_SUCCESS);
            char text[32];
            std::uintptr_t needed = 0;
            REQUIRE(ucd_get_memory(memory, 1000, UCD_TYPE__BYTE, UCD_INFO__NULL, text, sizeof text,
                                   &needed) == UCD_SUCCESS);
            CHECK(text == (kind == UCD_MEMORY__PINNED ? "pinned" : device(number)));
            CHECK(mock::counts.live_allocations == live + 1);
            CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
            CHECK(ucd_memory_free(memory) == UCD_ERR__INVALID_ARG);
            CHECK(mock::counts.live_allocations == live);
        }
    }
    void *memory = &session;
    mock::knobs.failing_allocation = 1;
    CHECK(ucd_memory_alloc(device(0).c_str(), UCD_MEMORY__DEVICE, 8, &memory) ==
          UCD_ERR__OUT_OF_MEM);
    CHECK(ucd_memory_alloc(device(2).c_str(), UCD_MEMORY__DEVICE, 8, &memory) ==
          UCD_ERR__NOT_SUPPORTED);
    CHECK(memory == &session);
}

TEST_CASE("ucd_ipc_export shares ranges within one allocation of a device") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    ucd_ipc_handle_t handle;
    for (const auto &[offset, bytes] :
         {std::pair<std::size_t, std::size_t>(0, 1000), {0, 1}, {999, 1}, {300, 700}})
        CHECK(ucd_ipc_export(memory.at(offset), bytes, &handle) == UCD_SUCCESS);
    for (const auto &[offset, bytes] : {std::pair<std::size_t, std::size_t>(0, 1001),
                                        {1000, 1},
                                        {999, 2},
                                        {1, SIZE_MAX},
                                        {500, SIZE_MAX - 400}})
        CHECK(ucd_ipc_export(memory.at(offset), bytes, &handle) == UCD_ERR__INVALID_ARG);
    mock::knobs.failing_export = 1;
    CHECK(ucd_ipc_export(memory.address, 1000, &handle) == UCD_ERR__DEVICE);
}

TEST_CASE("memory of this process opens where it is, as often as one likes") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    const ucd_ipc_handle_t handle = exported(memory.at(30), 500);
    void *first = nullptr, *second = nullptr;
    std::uintptr_t bytes = 0;
    REQUIRE(open_on(0, handle, &first, &bytes) == UCD_SUCCESS);
    REQUIRE(open_on(0, handle, &second, &bytes) == UCD_SUCCESS);
    CHECK(first == memory.at(30));
    CHECK(second == first);
    CHECK(bytes == 500);
    CHECK(ucd_ipc_close(first) == UCD_SUCCESS);
    CHECK(ucd_ipc_close(first) == UCD_SUCCESS);
    CHECK(ucd_ipc_close(first) == UCD_ERR__INVALID_ARG);
    CHECK(mock::counts.opens == 0);
    // By another device only if that reaches it.
    CHECK(open_on(1, handle, &first, &bytes) == UCD_ERR__NOT_SUPPORTED);
    CHECK(open_on(7, handle, &first, &bytes) == UCD_ERR__NOT_SUPPORTED);
}

TEST_CASE("a handle of an allocation that has gone does not open") {
    DeviceSession session;
    ucd_ipc_handle_t handle;
    {
        const DeviceBytes memory(0, 1000);
        handle = exported(memory.address, 1000);
    }
    const DeviceBytes other(0, 1000); // perhaps where it was
    void *address = nullptr;
    std::uintptr_t bytes = 0;
    CHECK(open_on(0, handle, &address, &bytes) == UCD_ERR__CORRUPT);
    CHECK(address == nullptr);
}

TEST_CASE("a handle with any bit changed does not open") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    const ucd_ipc_handle_t good = exported(memory.address, 1000);
    for (std::size_t bit = 0; bit < 8 * sizeof good.bytes; ++bit) {
        ucd_ipc_handle_t bad = good;
        bad.bytes[bit / 8] = static_cast<unsigned char>(bad.bytes[bit / 8] ^ 1 << bit % 8);
        void *address = nullptr;
        std::uintptr_t bytes = 0;
        const int rc = open_on(0, bad, &address, &bytes);
        INFO("bit " << bit);
        CHECK(rc == UCD_ERR__CORRUPT);
        CHECK(address == nullptr);
    }
}

TEST_CASE("a handle with bytes behind the backend's name does not open") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    constexpr std::size_t name_at = 40, name_end = 48;
    for (std::size_t at = name_at + 4; at < name_end; ++at)
        for (unsigned char byte = 0; byte < 2; ++byte) {
            ucd_ipc_handle_t handle = exported(memory.address, 1000);
            std::fill(handle.bytes + name_at, handle.bytes + name_end, 0);
            std::copy_n("cuda", 4, handle.bytes + name_at);
            if (at > name_at + 4) handle.bytes[at] = byte;
            set_checksum(handle);
            void *address = nullptr;
            std::uintptr_t bytes = 0;
            const bool is_good = byte == 0 || at == name_at + 4;
            CHECK(open_on(0, handle, &address, &bytes) ==
                  (is_good ? UCD_ERR__NOT_SUPPORTED : UCD_ERR__CORRUPT));
        }
    // A name that does not end.
    ucd_ipc_handle_t endless = exported(memory.address, 1000);
    std::fill(endless.bytes + name_at, endless.bytes + name_end, 'c');
    set_checksum(endless);
    void *address = nullptr;
    std::uintptr_t bytes = 0;
    CHECK(open_on(0, endless, &address, &bytes) == UCD_ERR__CORRUPT);
}

// Containers of one machine have different host names, and share its memory.
TEST_CASE("a handle names the machine by what Linux calls this start of it") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    constexpr std::size_t machine_at = 8;
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) { // the handle has the host's name then
        WARN("/proc hides boot_id from this process: nothing was tested");
        return;
    }
    const ucd_ipc_handle_t handle = exported(memory.address, 1000);
    std::uint64_t machine = 0;
    std::memcpy(&machine, handle.bytes + machine_at, sizeof machine);
    CHECK(machine == fnv_1a({reinterpret_cast<const unsigned char *>(text.data()), text.size()}));
}

TEST_CASE("what does not open in another process is an error there") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    const ucd_ipc_handle_t handle = exported(memory.at(30), 500);
    mock::knobs.failing_opens = 1;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        void *address = nullptr;
        std::uintptr_t bytes = 77;
        bool right = open_on(0, handle, &address, &bytes) == UCD_ERR__DEVICE;
        right = right && address == nullptr && bytes == 77;
        right = right && open_on(0, handle, &address, &bytes) == UCD_SUCCESS;
        right = right && address != nullptr && address != memory.at(30) && bytes == 500;
        _exit(right ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    mock::knobs.failing_opens = 0;
}

TEST_CASE("a handle tells on which device its memory is") {
    DeviceSession session;
    for (const int number : {0, 1}) {
        const DeviceBytes memory(number, 1000);
        const ucd_ipc_handle_t handle = exported(memory.at(30), 500);
        CHECK(device_of(handle) == device(number));
        char name[32] = "unchanged";
        std::uintptr_t needed = 0;
        CHECK(ucd_ipc_get_device(&handle, nullptr, 0, &needed) == UCD_SUCCESS);
        CHECK(needed == device(number).size() + 1);
        CHECK(ucd_ipc_get_device(&handle, name, needed - 1, &needed) == UCD_ERR__TRUNCATED);
        CHECK(name == std::string("unchanged"));
        CHECK(ucd_ipc_get_device(&handle, name, needed, &needed) == UCD_SUCCESS);
        CHECK(name == device(number));
    }
    CHECK(mock::counts.opens == 0);
}

TEST_CASE("another process finds a handle's device among those that it sees, or none") {
    DeviceSession session;
    const auto exchanged = [](int number) -> std::uint64_t { return number == 0 ? 2 : 1; };
    const auto others = [](int number) -> std::uint64_t {
        return static_cast<unsigned>(number) + 7;
    };
    const auto alike = [](int) -> std::uint64_t { return 1; };
    const auto unknown = [](int) -> std::uint64_t { return 0; };
    const DeviceBytes memory(0, 1000);
    const ucd_ipc_handle_t handle = exported(memory.address, 1000);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        bool right = device_of(handle) == device(0);
        mock::knobs.identity = exchanged;
        right = right && device_of(handle) == device(1);
        for (const auto identity : {+others, +alike, +unknown}) {
            mock::knobs.identity = identity;
            right = right && device_of(handle) == not_known;
        }
        // It opens all the same.
        void *address = nullptr;
        std::uintptr_t bytes = 0;
        right = right && open_on(0, handle, &address, &bytes) == UCD_SUCCESS;
        _exit(right && address != memory.address ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    // Where the exporter does not know it.
    mock::knobs.identity = unknown;
    const ucd_ipc_handle_t of_unknown = exported(memory.address, 1000);
    mock::knobs.identity = nullptr;
    CHECK(device_of(of_unknown) == not_known);
}

// 16 of the bits by which a process knows its handles are the device's. Of other versions they may
// be any.
TEST_CASE("a process knows its handles whatever their bits for the device are") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    constexpr std::size_t device_at = 16;
    const ucd_ipc_handle_t good = exported(memory.address, 1000);
    for (const int change : {0, 1, 0x80, 0xff}) {
        ucd_ipc_handle_t handle = good;
        for (std::size_t i = 0; i < 2; ++i)
            handle.bytes[device_at + i] =
                static_cast<unsigned char>(handle.bytes[device_at + i] ^ change);
        set_checksum(handle);
        CHECK(device_of(handle) == (change == 0 ? device(0) : not_known));
        void *address = nullptr;
        std::uintptr_t bytes = 0;
        REQUIRE(open_on(0, handle, &address, &bytes) == UCD_SUCCESS);
        CHECK(address == memory.address);
        CHECK(ucd_ipc_close(address) == UCD_SUCCESS);
    }
}

TEST_CASE("a backend owns the memory of its driver, and no other") {
    DeviceSession session;
    const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
    Rng rng(1);
    for (const Memory memory : all_memories) {
        const DeviceBuffer buffer(rng, {0, 64}, memory);
        ucd::MemoryLocation location;
        REQUIRE(backend->find(buffer.real_base(), location).ok());
        INFO(name_of(memory));
        CHECK((location.kind == ucd::MemoryKind::host) == (memory == Memory::pageable));
        CHECK(location.owner == (memory == Memory::pageable ? nullptr : backend.get()));
    }
}

// As it would be in another process: here the same memory is mapped a second time.
TEST_CASE("a backend opens what was exported, and nothing else") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
    ucd::MemoryHandle handle;
    REQUIRE(backend->export_memory(memory.at(100), 300, handle).ok());
    CHECK(handle.offset == 100);
    void *opened = nullptr;
    REQUIRE(backend->open_memory(0, handle, 300, opened).ok());
    CHECK(opened != memory.address);
    mock::write(memory.at(100), "there", 6);
    char text[6];
    mock::read(text, static_cast<char *>(opened) + 100, 6);
    CHECK(std::string(text) == "there");
    backend->close_memory(0, opened);
    CHECK(mock::counts.live_opens == 0);
    const auto refused = [&](int device, const ucd::MemoryHandle &h, std::size_t bytes, int code) {
        CHECK(backend->open_memory(device, h, bytes, opened).code() == code);
        CHECK(mock::counts.live_opens == 0);
    };
    refused(1, handle, 300, UCD_ERR__DEVICE); // no peer
    refused(0, handle, 901, UCD_ERR__CORRUPT);
    refused(0, handle, SIZE_MAX - 50, UCD_ERR__CORRUPT);
    ucd::MemoryHandle bad = handle;
    bad.offset = 1001;
    refused(0, bad, 1, UCD_ERR__CORRUPT);
    bad.offset = UINT64_MAX;
    refused(0, bad, 2, UCD_ERR__CORRUPT);
    // What the driver does not use: its handle has 64 bytes, as CUDA's.
    for (std::size_t at = 64; at < sizeof bad.native; ++at) {
        bad = handle;
        bad.native[at] = 1;
        refused(0, bad, 300, UCD_ERR__CORRUPT);
    }
    // Bytes as they may come.
    Rng rng(9);
    for (int i = 0; i < 2000; ++i) {
        bad = handle;
        for (unsigned char &byte : bad.native)
            if (i == 0 || rng.chance(20)) byte = static_cast<unsigned char>(rng.bits());
        if (std::memcmp(bad.native, handle.native, sizeof(mock::Shared)) != 0) {
            if (backend->open_memory(0, bad, 300, opened).ok()) {
                // Only less of it than there is.
                mock::Shared shared;
                std::memcpy(&shared, bad.native, sizeof shared);
                CHECK(shared.bytes >= 400);
                backend->close_memory(0, opened);
            }
        }
    }
}

// Memory of another process may be where memory of this one was that is not closed yet. Whose
// ucd_ipc_close comes first is not known.
TEST_CASE("what is open twice at an address is there until both are closed") {
    DeviceSession session;
    const DeviceBytes memory(0, 1000);
    const ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
    ucd::MemoryHandle handle;
    REQUIRE(backend->export_memory(memory.address, 1000, handle).ok());
    ucd::DeviceMemory memories;
    void *address = nullptr, *before = nullptr;
    // The system gives a place again, if not always at once.
    for (int i = 0; i < 50 && (address == nullptr || address != before); ++i) {
        if (address != nullptr) {
            REQUIRE(memories.close(address).ok());
            for (int own = 0; own < 3; ++own) REQUIRE(memories.close(before).ok());
        }
        REQUIRE(memories.open(*backend, 0, handle, 1000, before).ok());
        REQUIRE(memories.close(before).ok());
        for (int own = 0; own < 3; ++own) REQUIRE(memories.open_own(before).ok());
        REQUIRE(memories.open(*backend, 0, handle, 1000, address).ok());
    }
    REQUIRE(address == before);
    for (int left = 3; left >= 0; --left) {
        CHECK(mock::counts.live_opens == 1);
        CHECK(memories.close(address).ok());
    }
    CHECK(mock::counts.live_opens == 0);
    CHECK(!memories.close(address).ok());
}

TEST_CASE("the last ucd_finalize ends what users have left") {
    {
        DeviceSession session;
        void *memory, *opened;
        std::uintptr_t bytes;
        for (const int kind : {UCD_MEMORY__PINNED, UCD_MEMORY__DEVICE})
            REQUIRE(ucd_memory_alloc(device(0).c_str(), kind, 1000, &memory) == UCD_SUCCESS);
        REQUIRE(open_on(0, exported(memory, 1000), &opened, &bytes) == UCD_SUCCESS);
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        CHECK(mock::counts.live_allocations == 0);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        CHECK(ucd_memory_free(memory) == UCD_ERR__INVALID_ARG);
        CHECK(ucd_ipc_close(opened) == UCD_ERR__INVALID_ARG);
    }
}

} // namespace hostgpu_memory_test
