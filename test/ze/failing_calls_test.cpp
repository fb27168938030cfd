// Each call of Level Zero that work makes fails, one after the other: the library says so, loses
// nothing, and works again afterwards.
#include "support/catch.hpp"
#include "ze/driver.hpp"
#include "ze/program.hpp"

#include <ucd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace failing_calls_test {

using namespace zetest;

namespace {

// Blocks of some bytes with gaps of the same length, in device memory.
class Blocks {
public:
    explicit Blocks(std::size_t width)
        : width_(width), typed_(program().memory(2 * bytes)), packed_(program().memory(bytes)) {
        REQUIRE(ucd_create_hvector(static_cast<intptr_t>(bytes / width),
                                   static_cast<intptr_t>(width), static_cast<intptr_t>(2 * width),
                                   UCD_TYPE__BYTE, nullptr, &type_) == UCD_SUCCESS);
    }
    ~Blocks() {
        (void)ucd_free(&type_);
        (void)zeMemFree(program().context, typed_);
        (void)zeMemFree(program().context, packed_);
    }
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;

    // From pageable memory into the layout, from there into packed device memory, and back. The
    // first status that is none of success.
    int move() const {
        std::vector<unsigned char> before(bytes), after(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
            before[i] = static_cast<unsigned char>(i * 7 + width_);
        uintptr_t moved = 0;
        int status =
            ucd_unpack(before.data(), bytes, typed_, 1, type_, 0, &moved, nullptr, UCD_OP__REPLACE);
        if (status == UCD_SUCCESS)
            status =
                ucd_pack(typed_, 1, type_, 0, packed_, bytes, &moved, nullptr, UCD_OP__REPLACE);
        if (status == UCD_SUCCESS)
            status = ucd_pack(packed_, static_cast<intptr_t>(bytes), UCD_TYPE__BYTE, 0,
                              after.data(), bytes, &moved, nullptr, UCD_OP__REPLACE);
        if (status == UCD_SUCCESS) CHECK(after == before);
        return status == UCD_SUCCESS ? move_by_a_list() : status;
    }

private:
    // A list that nobody has seen: it is taken to the device, and freed there.
    int move_by_a_list() const {
        static intptr_t changing = 0;
        std::vector<intptr_t> places(100);
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] = static_cast<intptr_t>(i * 40 + i * i % 17);
        places.back() += ++changing;
        ucd_type_t type = nullptr;
        REQUIRE(ucd_create_hindexed_block(static_cast<intptr_t>(places.size()), 16, places.data(),
                                          UCD_TYPE__BYTE, nullptr, &type) == UCD_SUCCESS);
        uintptr_t moved = 0;
        int status = UCD_SUCCESS;
        for (int times = 0; status == UCD_SUCCESS && times < 3; ++times)
            status = ucd_pack(typed_, 1, type, 0, packed_, bytes, &moved, nullptr, UCD_OP__REPLACE);
        REQUIRE(ucd_free(&type) == UCD_SUCCESS);
        return status;
    }

    static constexpr std::size_t bytes = 4096;
    std::size_t width_;
    unsigned char *typed_, *packed_;
    ucd_type_t type_ = nullptr;
};

// What the calls of one function's failing did.
struct Seen {
    unsigned failures = 0, refusals = 0;
};

// Moves while a call fails: "zeMemFree:2".
void fail_one(const Driver &driver, const std::string &call, const Blocks &blocks, Seen &seen) {
    INFO(call);
    driver.fail(call.c_str());
    const int status = blocks.move();
    const std::string message = status != UCD_SUCCESS ? ucd_last_error() : "";
    seen.failures += driver.failed();
    driver.fail("");
    if (status == UCD_SUCCESS) return;
    ++seen.refusals;
    CHECK(status == UCD_ERR__DEVICE);
    CHECK(message.find("Level Zero") != std::string::npos);
    // What was in the device's hands may still be written.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

Seen fail_each(const Driver &driver, const std::string &function, const Blocks &blocks) {
    Seen seen;
    for (unsigned call = 1; call <= 6; ++call) {
        fail_one(driver, function + ":" + std::to_string(call), blocks, seen);
        REQUIRE(blocks.move() == UCD_SUCCESS);
    }
    return seen;
}

} // namespace

// Before any other work of this program.
TEST_CASE("what is made at first use may fail") {
    const Driver driver;
    const Blocks blocks(16);
    for (const char *function :
         {"zeMemAllocHost", "zeCommandListCreateImmediate", "zeEventPoolCreate", "zeEventCreate",
          "zeModuleCreate", "zeKernelCreate", "zeKernelSetGroupSize", "zeKernelSetIndirectAccess",
          "zeMemAllocDevice"}) {
        INFO(function);
        Seen seen;
        fail_one(driver, function, blocks, seen);
        const int objects = driver.objects();
        fail_one(driver, function, blocks, seen);
        CHECK(seen.failures > 1);
        CHECK(seen.refusals == 2);
        CHECK(driver.objects() == objects);
    }
    CHECK(blocks.move() == UCD_SUCCESS);
}

TEST_CASE("each call that work makes may fail") {
    const Driver driver;
    // Whether the failure is told; and, for each function that is called once for a kernel, blocks
    // of another length.
    const struct {
        const char *function;
        bool told;
        std::size_t width = 16;
    } calls[] = {
        {"zeModuleCreate", true, 1},          {"zeKernelCreate", true, 2},
        {"zeKernelSetGroupSize", true, 4},    {"zeKernelSetIndirectAccess", true, 8},
        {"zeKernelSetArgumentValue", true},   {"zeCommandListAppendLaunchKernel", true},
        {"zeCommandListAppendBarrier", true}, {"zeCommandListAppendMemoryCopy", true},
        {"zeEventQueryStatus", true},         {"zeEventHostReset", true},
        {"zeMemGetAddressRange", false},
    };
    int objects = 0;
    for (const bool again : {false, true}) {
        for (const auto &call : calls) {
            const Blocks blocks(call.width);
            const Seen seen = fail_each(driver, call.function, blocks);
            if (again) continue;
            INFO(call.function);
            CHECK(seen.failures > 0);
            CHECK((seen.refusals > 0) == call.told);
        }
        if (again) CHECK(driver.objects() <= objects);
        objects = driver.objects();
    }
}

} // namespace failing_calls_test
