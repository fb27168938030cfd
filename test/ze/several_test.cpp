// Two drivers with two devices each, which have two parts each. The library is told of no context
// at first.
#include "support/catch.hpp"
#include "ze/driver.hpp"
#include "ze/moves.hpp"
#include "ze/program.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace several_test {

using namespace zetest;

namespace {

struct Of {
    ze_driver_handle_t driver;
    ze_device_handle_t device; // its first one
    ze_context_handle_t context;
};

std::vector<Of> drivers() {
    static const auto *all = [] {
        auto *made = new std::vector<Of>;
        require(zeInit(ZE_INIT_FLAG_GPU_ONLY));
        uint32_t count = 2;
        ze_driver_handle_t handles[2];
        require(zeDriverGet(&count, handles));
        for (uint32_t i = 0; i < count; ++i) {
            Of of{handles[i], nullptr, nullptr};
            uint32_t one = 1;
            require(zeDeviceGet(of.driver, &one, &of.device));
            ze_context_desc_t description{};
            description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
            require(zeContextCreate(of.driver, &description, &of.context));
            made->push_back(of);
        }
        return made;
    }();
    return *all;
}

ze_command_list_handle_t list_of(const Of &of) {
    ze_command_queue_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    description.ordinal = 1;
    description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    ze_command_list_handle_t made = nullptr;
    require(zeCommandListCreateImmediate(of.context, of.device, &description, &made));
    return made;
}

// Until what is in the list is done.
void wait_for(const Of &of, ze_command_list_handle_t list) {
    const ze_event_handle_t done = Program::event(of.context);
    require(zeCommandListAppendBarrier(list, done, 0, nullptr));
    require(zeEventHostSynchronize(done, UINT64_MAX));
}

std::string place_of(const void *memory) {
    char text[32];
    std::uintptr_t needed = 0;
    check_ucd(
        ucd_get_memory(memory, 1, UCD_TYPE__BYTE, UCD_INFO__NULL, text, sizeof text, &needed));
    return text;
}

std::ptrdiff_t descriptors() {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
}

constexpr std::size_t devices = 4;

} // namespace

TEST_CASE("all devices of all drivers are the backend's", "[.several]") {
    int count = 0;
    check_ucd(ucd_backend_count(&count));
    bool seen = false;
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t desc{};
        desc.struct_size = sizeof desc;
        check_ucd(ucd_backend_get(i, &desc));
        if (std::string(desc.name) != "ze") continue;
        seen = true;
        CHECK(desc.devices == devices);
    }
    CHECK(seen);
}

// Before anything else has settled which context is in use.
TEST_CASE("the first stream of a driver's devices names its context", "[.several]") {
    const Thirds thirds(100, 16);
    const Bytes there = some_bytes(thirds.typed_bytes(), 1);
    for (std::size_t d = 0; d < drivers().size(); ++d) {
        const Of of = drivers()[d];
        const int device = static_cast<int>(2 * d);
        unsigned char *typed = Program::memory(of.context, of.device, there.size());
        unsigned char *packed = Program::memory(of.context, of.device, there.size());
        const ze_command_list_handle_t list = list_of(of);
        const ucd_stream_t stream{"ze", device, list, of.context, 0};
        // Nothing of the context was known so far.
        check_ucd(thirds.pack_stream(typed, packed, stream));
        wait_for(of, list);
        CHECK(place_of(typed) == "ze:" + std::to_string(device));
        copy(typed, there.data(), there.size());
        check_ucd(thirds.pack(typed, packed));
        CHECK(read(packed, thirds.packed_bytes()) == thirds.packed(there));
        // The other driver's, and one more of its own.
        ze_context_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
        ze_context_handle_t another = nullptr;
        require(zeContextCreate(of.driver, &description, &another));
        for (const ze_context_handle_t refused : {drivers()[1 - d].context, another}) {
            CHECK(thirds.pack_stream(typed, packed, {"ze", device, list, refused}) ==
                  UCD_ERR__INVALID_ARG);
            CHECK(says("context"));
        }
        require(zeContextDestroy(another));
        require(zeMemFree(of.context, typed));
        require(zeMemFree(of.context, packed));
        require(zeCommandListDestroy(list));
    }
}

TEST_CASE("memory of a part of a device is the device's", "[.several]") {
    const Thirds thirds(100, 16);
    const Bytes there = some_bytes(thirds.typed_bytes(), 8);
    for (std::size_t d = 0; d < drivers().size(); ++d) {
        const Of of = drivers()[d];
        uint32_t count = 2;
        ze_device_handle_t parts[2];
        require(zeDeviceGetSubDevices(of.device, &count, parts));
        REQUIRE(count == 2);
        for (const ze_device_handle_t part : parts) {
            unsigned char *typed = Program::memory(of.context, part, there.size());
            CHECK(place_of(typed) == "ze:" + std::to_string(2 * d));
            copy(typed, there.data(), there.size());
            Bytes here(thirds.packed_bytes());
            check_ucd(thirds.pack(typed, here.data()));
            CHECK(here == thirds.packed(there));
            require(zeMemFree(of.context, typed));
        }
    }
}

// Before the driver has answered.
TEST_CASE("devices whose access to each other is not known use the host", "[.several]") {
    const Driver driver;
    const Thirds thirds(100, 16);
    const Bytes there = some_bytes(thirds.typed_bytes(), 6);
    const Of of = drivers()[0];
    void *typed = nullptr, *packed = nullptr;
    check_ucd(ucd_memory_alloc("ze:1", UCD_MEMORY__DEVICE, there.size(), &typed));
    check_ucd(ucd_memory_alloc("ze:0", UCD_MEMORY__DEVICE, there.size(), &packed));
    copy(typed, there.data(), there.size());
    const ze_command_list_handle_t list = list_of(of);
    const ucd_stream_t stream{"ze", 0, list, of.context, 0};
    driver.fail("zeDeviceCanAccessPeer");
    CHECK(thirds.pack_stream(typed, packed, stream) == UCD_ERR__NOT_SUPPORTED);
    check_ucd(thirds.pack(typed, packed));
    CHECK(driver.failed() > 1);
    CHECK(read(packed, thirds.packed_bytes()) == thirds.packed(there));
    driver.fail("");
    CHECK(thirds.pack_stream(typed, packed, stream) == UCD_SUCCESS);
    wait_for(of, list);
    check_ucd(thirds.pack(typed, packed));
    CHECK(read(packed, thirds.packed_bytes()) == thirds.packed(there));
    // Drivers know nothing of each other's devices.
    check_ucd(ucd_memory_free(typed));
    check_ucd(ucd_memory_alloc("ze:2", UCD_MEMORY__DEVICE, there.size(), &typed));
    CHECK(thirds.pack_stream(typed, packed, stream) == UCD_ERR__NOT_SUPPORTED);
    check_ucd(ucd_memory_free(typed));
    check_ucd(ucd_memory_alloc("ze:2", UCD_MEMORY__PINNED, there.size(), &typed));
    CHECK(thirds.pack_stream(typed, packed, stream) == UCD_ERR__NOT_SUPPORTED);
    check_ucd(ucd_memory_free(typed));
    check_ucd(ucd_memory_free(packed));
    require(zeCommandListDestroy(list));
}

TEST_CASE("data moves between all devices and memories of all drivers", "[.several]") {
    const Thirds thirds(500, 16);
    const Bytes there = some_bytes(thirds.typed_bytes(), 4);
    for (std::size_t from = 0; from < 2 * devices; ++from)
        for (std::size_t to = 0; to < 2 * devices; ++to) {
            const auto memory = [](std::size_t place, std::size_t bytes) {
                void *made = nullptr;
                check_ucd(ucd_memory_alloc(
                    ("ze:" + std::to_string(place % devices)).c_str(),
                    place < devices ? UCD_MEMORY__DEVICE : UCD_MEMORY__PINNED, bytes, &made));
                return made;
            };
            void *typed = memory(from, there.size()), *packed = memory(to, thirds.packed_bytes());
            copy(typed, there.data(), there.size());
            check_ucd(thirds.pack(typed, packed));
            INFO(from << " to " << to);
            CHECK(read(packed, thirds.packed_bytes()) == thirds.packed(there));
            check_ucd(ucd_memory_free(typed));
            check_ucd(ucd_memory_free(packed));
        }
}

TEST_CASE("memory that one driver exports stays exported when another driver exports",
          "[.several]") {
    constexpr std::size_t bytes = 4096;
    void *memory[2] = {};
    ucd_ipc_handle_t handle{};
    check_ucd(ucd_memory_alloc("ze:0", UCD_MEMORY__DEVICE, bytes, &memory[0]));
    check_ucd(ucd_memory_alloc("ze:2", UCD_MEMORY__DEVICE, bytes, &memory[1]));
    const std::ptrdiff_t before = descriptors();
    for (std::ptrdiff_t i = 0; i < 2; ++i) {
        check_ucd(ucd_ipc_export(memory[i], bytes, &handle));
        CHECK(descriptors() == before + i + 1); // one each, which other processes copy
    }
    for (void *each : memory) check_ucd(ucd_memory_free(each));
}

} // namespace several_test
