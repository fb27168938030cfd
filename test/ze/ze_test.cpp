// What is Level Zero's own: contexts, and command lists of the caller's. On the test driver.
#include "support/catch.hpp"
#include "support/moves/move_list.hpp"
#include "support/test_start.hpp"
#include "ze/driver.hpp"
#include "ze/moves.hpp"
#include "ze/program.hpp"

#include <level_zero/ze_api.h>
#include <ucd.h>
#include <ucd_memory.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// Unless a variable says that streams name the context.
bool ucdtest::start_library() {
    if (std::getenv("UCD_TEST_ZE_NO_CONTEXT") != nullptr)
        return ucd_init(UCD_INFO__NULL) == UCD_SUCCESS;
    return zetest::start_in_context();
}

namespace ze_test {

using namespace zetest;

TEST_CASE("work in a command list of the caller's is ordered with what is around it") {
    constexpr std::size_t count = 5000;
    const Thirds thirds(count);
    const Program &p = program();
    unsigned char *typed = p.memory(3 * count), *packed = p.memory(count);
    const ze_command_list_handle_t list = p.list(p.context);
    const ze_event_handle_t done = p.event();
    std::vector<unsigned char> there(3 * count), here(count);
    for (std::size_t round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < there.size(); ++i)
            there[i] = static_cast<unsigned char>(i * 7 + round);
        require(zeCommandListAppendMemoryCopy(list, typed, there.data(), there.size(), nullptr, 0,
                                              nullptr));
        uintptr_t moved = 0;
        const ucd_stream_t stream{"ze", 0, list, p.context, 0};
        REQUIRE(ucd_pack_stream(typed, 1, thirds.type, 0, packed, count, &moved, nullptr,
                                UCD_OP__REPLACE, stream) == UCD_SUCCESS);
        REQUIRE(moved == count);
        require(zeCommandListAppendMemoryCopy(list, here.data(), packed, count, done, 0, nullptr));
        require(zeEventHostSynchronize(done, UINT64_MAX));
        require(zeEventHostReset(done));
        for (std::size_t i = 0; i < count; ++i) REQUIRE(here[i] == there[3 * i]);
    }
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
    require(zeCommandListDestroy(list));
}

TEST_CASE("streams that cannot be used are refused with a reason") {
    const Thirds thirds(16);
    const Program &p = program();
    unsigned char *typed = p.memory(48), *packed = p.memory(16);
    const ze_command_list_handle_t list = p.list(p.context), other = p.list(p.other_context);
    const struct {
        ucd_stream_t stream;
        const char *reason;
        int status = UCD_ERR__INVALID_ARG;
    } cases[] = {
        {{"ze", 0, other, p.other_context, 0}, "context"},
        {{"ze", 0, nullptr, p.context, 0}, "null"},
        {{"ze", -1, list, p.context, 0}, "command list"},
        {{"ze", 99, list, p.context, 0}, "99", UCD_ERR__NOT_SUPPORTED},
    };
    for (const auto &c : cases) {
        INFO(c.reason);
        uintptr_t moved = 0;
        CHECK(ucd_pack_stream(typed, 1, thirds.type, 0, packed, 16, &moved, nullptr,
                              UCD_OP__REPLACE, c.stream) == c.status);
        CHECK(std::string(ucd_last_error()).find(c.reason) != std::string::npos);
    }
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
    require(zeCommandListDestroy(list));
    require(zeCommandListDestroy(other));
}

// Nobody can tell how often a regular list is executed: it may hold layouts without lists, of which
// the library keeps nothing.
TEST_CASE("a regular command list moves data each time that it is executed") {
    const Thirds thirds(1000, 16);
    const Program &p = program();
    unsigned char *typed = p.memory(thirds.typed_bytes()),
                  *packed = p.memory(thirds.packed_bytes());
    ze_command_list_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
    description.commandQueueGroupOrdinal = 1;
    ze_command_list_handle_t list = nullptr;
    require(zeCommandListCreate(p.context, p.device, &description, &list));
    const ucd_stream_t stream{"ze", 0, list, p.context, 0};
    check_ucd(ucd_prepare(1, thirds.type, UCD_OP__REPLACE, stream, nullptr));
    check_ucd(thirds.pack_stream(typed, packed, stream));
    require(zeCommandListClose(list));
    ze_command_queue_desc_t of_queue{};
    of_queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    of_queue.ordinal = 1;
    ze_command_queue_handle_t queue = nullptr;
    require(zeCommandQueueCreate(p.context, p.device, &of_queue, &queue));
    for (std::size_t round = 0; round < 3; ++round) {
        const Bytes there = some_bytes(thirds.typed_bytes(), round);
        copy(typed, there.data(), there.size());
        require(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
        require(zeCommandQueueSynchronize(queue, UINT64_MAX));
        CHECK(read(packed, thirds.packed_bytes()) == thirds.packed(there));
    }
    require(zeCommandQueueDestroy(queue));
    require(zeCommandListDestroy(list));
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
}

TEST_CASE("a list whose queue only copies takes what copy engines do, and nothing else") {
    const Thirds thirds(100, 64);
    const Program &p = program();
    unsigned char *typed = p.memory(thirds.typed_bytes()),
                  *packed = p.memory(thirds.packed_bytes());
    const Bytes there = some_bytes(thirds.typed_bytes(), 3);
    copy(typed, there.data(), there.size());
    const ze_command_list_handle_t list = p.list(p.context, 0);
    const ucd_stream_t stream{"ze", 0, list, p.context, 0};
    const ze_event_handle_t done = p.event();
    CHECK(thirds.pack_stream(typed, packed, stream, Hint("ucd.engine", "kernel")) ==
          UCD_ERR__DEVICE);
    CHECK(says("the command list is of another kind"));
    check_ucd(thirds.pack_stream(typed, packed, stream, Hint("ucd.engine", "dma")));
    require(zeCommandListAppendBarrier(list, done, 0, nullptr));
    require(zeEventHostSynchronize(done, UINT64_MAX));
    CHECK(read(packed, thirds.packed_bytes()) == thirds.packed(there));
    require(zeCommandListDestroy(list));
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
}

TEST_CASE("nothing is left to be made after ucd_prepare") {
    const Driver driver;
    const Program &p = program();
    const ze_command_list_handle_t list = p.list(p.context);
    const ucd_stream_t stream{"ze", 0, list, p.context, 0};
    const ze_event_handle_t done = p.event();
    unsigned char *typed = p.memory(4096), *packed = p.memory(1024);
    // Places with no rule in them: a list, which the device has then.
    std::vector<intptr_t> places;
    for (intptr_t i = 0; i < 64; ++i) places.push_back(i * 50 + i * i % 7);
    ucd_type_t type = nullptr;
    check_ucd(ucd_create_hindexed_block(64, 16, places.data(), UCD_TYPE__BYTE, nullptr, &type));
    check_ucd(ucd_prepare(1, type, UCD_OP__REPLACE, stream, nullptr));
    const Bytes there = some_bytes(4096, 11);
    copy(typed, there.data(), there.size());
    driver.fail("zeModuleCreate,zeKernelCreate,zeMemAllocDevice,zeMemAllocHost");
    uintptr_t moved = 0;
    check_ucd(
        ucd_pack_stream(typed, 1, type, 0, packed, 1024, &moved, nullptr, UCD_OP__REPLACE, stream));
    CHECK(driver.failed() == 0);
    driver.fail("");
    require(zeCommandListAppendBarrier(list, done, 0, nullptr));
    require(zeEventHostSynchronize(done, UINT64_MAX));
    const Bytes all = read(packed, 1024);
    for (std::size_t i = 0; i < 1024; ++i)
        REQUIRE(all[i] == there[static_cast<std::size_t>(places[i / 16]) + i % 16]);
    require(zeCommandListDestroy(list));
    check_ucd(ucd_free(&type));
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
}

TEST_CASE("memory of another context is not taken for the library's") {
    const Thirds thirds(16);
    const Program &p = program();
    std::vector<unsigned char> packed(16);
    ze_host_mem_alloc_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    void *typed = nullptr;
    require(zeMemAllocHost(p.other_context, &description, 48, 64, &typed));
    std::memset(typed, 5, 48);
    // The host can read it, and so it is packed there.
    uintptr_t moved = 0;
    REQUIRE(ucd_pack(typed, 1, thirds.type, 0, packed.data(), 16, &moved, nullptr,
                     UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(packed == std::vector<unsigned char>(16, 5));
    require(zeMemFree(p.other_context, typed));
}

TEST_CASE("memory of another context's device is refused by name") {
    const Thirds thirds(100, 16);
    const Program &p = program();
    unsigned char *foreign = Program::memory(p.other_context, p.device, thirds.typed_bytes());
    unsigned char *mine = p.memory(thirds.typed_bytes());
    const ze_command_list_handle_t list = p.list(p.context);
    Bytes here(thirds.typed_bytes());
    uintptr_t moved = 0;
    const auto refused = [&](int rc) {
        CHECK(rc == UCD_ERR__INVALID_ARG);
        CHECK(says("of the Level Zero context that is in use"));
    };
    refused(thirds.pack(foreign, here.data()));
    refused(thirds.pack(foreign, mine));
    refused(thirds.pack(mine, foreign));
    refused(ucd_unpack(here.data(), thirds.packed_bytes(), foreign, 1, thirds.type, 0, &moved,
                       nullptr, UCD_OP__REPLACE));
    refused(
        ucd_copy(mine, 1, thirds.type, foreign, 1, thirds.type, &moved, nullptr, UCD_OP__REPLACE));
    refused(thirds.pack_stream(foreign, mine, {"ze", 0, list, p.context, 0}));
    ucdtest::MoveList moves;
    for (unsigned char *const from : {mine, foreign})
        moves.push_back(
            ucdtest::pack_move(from, 1, thirds.type, 0, here.data(), thirds.packed_bytes()));
    ucd_request_t request = UCD_REQUEST__NULL;
    refused(ucdtest::start(moves, &request));
    CHECK(request == UCD_REQUEST__NULL);
    ucd_ipc_handle_t handle{};
    CHECK(ucd_ipc_export(foreign, 16, &handle) == UCD_ERR__INVALID_ARG);
    // And what was freed is nobody's.
    require(zeMemFree(p.context, mine));
    refused(thirds.pack(mine, here.data()));
    require(zeMemFree(p.other_context, foreign));
    require(zeCommandListDestroy(list));
}

} // namespace ze_test
