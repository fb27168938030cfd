// What is Level Zero's own: contexts, and command lists of the caller's. On the test driver.
#include "support/catch.hpp"
#include "support/test_start.hpp"
#include "ze/program.hpp"

#include <level_zero/ze_api.h>
#include <ucd.h>

#include <cstring>
#include <string>
#include <vector>

using namespace zetest;

namespace {

// Every third byte of 3 * count.
struct Thirds {
    ucd_type_t bytes = nullptr;

    explicit Thirds(std::size_t count) {
        REQUIRE(ucd_create_vector(static_cast<intptr_t>(count), 1, 3, UCD_TYPE__BYTE, nullptr,
                                  &bytes) == UCD_SUCCESS);
    }
    ~Thirds() { (void)ucd_free(&bytes); }
    Thirds(const Thirds &) = delete;
    Thirds &operator=(const Thirds &) = delete;
};

} // namespace

// With the program's context, if there is a driver.
bool ucdtest::start_library() {
    if (zeInit(ZE_INIT_FLAG_GPU_ONLY) != ZE_RESULT_SUCCESS)
        return ucd_init(UCD_INFO__NULL) == UCD_SUCCESS;
    ucd_info_t info = nullptr;
    const auto context = std::to_string(reinterpret_cast<uintptr_t>(program().context));
    const bool started = ucd_info_create(&info) == UCD_SUCCESS &&
                         ucd_info_set(info, "ucd.ze.context", context.c_str()) == UCD_SUCCESS &&
                         ucd_init(info) == UCD_SUCCESS;
    (void)ucd_info_free(&info);
    return started;
}

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
        const ucd_stream_t stream{"ze", 0, list, p.context};
        REQUIRE(ucd_pack_stream(typed, 1, thirds.bytes, 0, packed, count, &moved, nullptr,
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
        {{"ze", 0, other, p.other_context}, "context"},
        {{"ze", 0, nullptr, p.context}, "null"},
        {{"ze", -1, list, p.context}, "command list"},
        {{"ze", 99, list, p.context}, "99", UCD_ERR__NOT_SUPPORTED},
    };
    for (const auto &c : cases) {
        INFO(c.reason);
        uintptr_t moved = 0;
        CHECK(ucd_pack_stream(typed, 1, thirds.bytes, 0, packed, 16, &moved, nullptr,
                              UCD_OP__REPLACE, c.stream) == c.status);
        CHECK(std::string(ucd_last_error()).find(c.reason) != std::string::npos);
    }
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
    require(zeCommandListDestroy(list));
    require(zeCommandListDestroy(other));
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
    REQUIRE(ucd_pack(typed, 1, thirds.bytes, 0, packed.data(), 16, &moved, nullptr,
                     UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(packed == std::vector<unsigned char>(16, 5));
    require(zeMemFree(p.other_context, typed));
}
