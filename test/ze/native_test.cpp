// Native code beside SPIR-V, on the test driver: which of the two a kernel is made of.
#include "support/catch.hpp"
#include "support/test_start.hpp"
#include "support/ze_driver/controls.h"
#include "ze/program.hpp"

#include <ucd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

bool ucdtest::start_library() {
    return zetest::start_in_context();
}

namespace native_test {

using namespace zetest;

namespace {

template <class Function>
Function *control(const char *name) {
    void *driver = ::dlopen(std::getenv("ZE_ENABLE_ALT_DRIVERS"), RTLD_NOW | RTLD_NOLOAD);
    void *found = driver == nullptr ? nullptr : ::dlsym(driver, name);
    if (found == nullptr) throw std::runtime_error(name);
    return reinterpret_cast<Function *>(found);
}

// Blocks of so many bytes, with gaps of the same length, from device memory and back: the status.
int move_blocks(std::size_t width) {
    constexpr std::size_t bytes = 6400;
    const Program &p = program();
    unsigned char *typed = p.memory(2 * bytes), *packed = p.memory(bytes);
    ucd_type_t type = nullptr;
    REQUIRE(ucd_create_hvector(static_cast<intptr_t>(bytes / width), static_cast<intptr_t>(width),
                               static_cast<intptr_t>(2 * width), UCD_TYPE__BYTE, nullptr,
                               &type) == UCD_SUCCESS);
    std::vector<unsigned char> there(2 * bytes), here(bytes), back(2 * bytes, 9);
    for (std::size_t i = 0; i < there.size(); ++i)
        there[i] = static_cast<unsigned char>(i * 7 + width);
    const auto copy = [](void *to, const void *from, std::size_t count) {
        const ze_command_list_handle_t list = program().list(program().context);
        const ze_event_handle_t done = program().event();
        require(zeCommandListAppendMemoryCopy(list, to, from, count, done, 0, nullptr));
        require(zeEventHostSynchronize(done, UINT64_MAX));
        require(zeCommandListDestroy(list));
    };
    uintptr_t moved = 0;
    copy(typed, there.data(), there.size());
    int status = ucd_pack(typed, 1, type, 0, packed, bytes, &moved, nullptr, UCD_OP__REPLACE);
    copy(typed, back.data(), back.size());
    if (status == UCD_SUCCESS)
        status = ucd_unpack(packed, bytes, typed, 1, type, 0, &moved, nullptr, UCD_OP__REPLACE);
    if (status == UCD_SUCCESS) {
        copy(here.data(), packed, bytes);
        copy(back.data(), typed, back.size());
        for (std::size_t i = 0; i < bytes; ++i) {
            const std::size_t at = i / width * 2 * width + i % width;
            REQUIRE(here[i] == there[at]);
            REQUIRE(back[at] == there[at]);
            REQUIRE(back[at + width] == 9);
        }
    }
    (void)ucd_free(&type);
    require(zeMemFree(p.context, typed));
    require(zeMemFree(p.context, packed));
    return status;
}

} // namespace

TEST_CASE("native code is used if the driver takes it, and SPIR-V if not") {
    auto *natives = control<decltype(ucd_ze_driver_natives)>("ucd_ze_driver_natives");
    const struct {
        std::size_t width;
        unsigned natives; // of the kernels that pack and that unpack
    } cases[] = {{16, 2}, {8, 0}, {4, 0}};
    for (const auto &c : cases) {
        INFO(c.width);
        const unsigned before = natives();
        CHECK(move_blocks(c.width) == UCD_SUCCESS);
        CHECK(natives() - before == c.natives);
    }
}

TEST_CASE("a kernel of which no module can be made fails, and is made later") {
    auto *fail = control<decltype(ucd_ze_driver_fail)>("ucd_ze_driver_fail");
    fail("zeModuleCreate");
    CHECK(move_blocks(2) != UCD_SUCCESS);
    fail("");
    CHECK(move_blocks(2) == UCD_SUCCESS);
}

} // namespace native_test
