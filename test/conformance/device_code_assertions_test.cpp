// Calls device code with arguments that it asserts against, on threads of the CPU. Each call is
// made in a process of its own, which an assertion ends.
#define UCD_DEVICE_CODE_VENDOR "support/device_code/on_threads.h"
#include "support/device_code/moves.hpp"

#include "support/catch.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/moves/device_moves.hpp"

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace device_code_assertions_test {

using namespace ucdtest;
namespace dev = ucd::device;

namespace {

struct OneThread {
    std::uint64_t size() const { return 1; }
    void sync() const {}
};

template <class Call>
bool is_stopped(const Call &call) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)std::signal(SIGABRT, SIG_DFL); // else the test's own handler reports a failure
        ::close(STDERR_FILENO);
        try {
            call();
        } catch (...) { // of a device that does not reach what the call accesses
        }
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

// Doubles at every second place.
ucd_device_plan_t plan_of(std::intptr_t doubles) {
    ucd_type_t type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_vector(doubles, 1, 2, UCD_TYPE__DOUBLE, nullptr, &type) == UCD_SUCCESS);
    ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
    const std::string device = std::string(mock::backend.name) + ":0";
    REQUIRE(ucd_device_plan_create(1, type, device.c_str(), nullptr, &plan) == UCD_SUCCESS);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    return plan;
}

// In memory of the device.
class Bytes {
public:
    Bytes() : at_(mock::allocate(ucd::MemoryKind::device, 0, 256)) {}
    ~Bytes() { mock::release(at_); }
    Bytes(const Bytes &) = delete;
    Bytes &operator=(const Bytes &) = delete;
    operator char *() const { return static_cast<char *>(at_); }

private:
    void *at_;
};

const OneThread one;

auto known(const ucd_device_plan_t &plan) {
    return dev::known<8, dev::strided, dev::strided>(plan);
}

} // namespace

TEST_CASE("device code stops at a range that is not in the plan") {
    DeviceSession session;
    const Bytes typed, other, packed;
    ucd_device_plan_t plan = plan_of(8), shorter = plan_of(4);
    struct Range {
        std::uint64_t offset, bytes;
        bool is_wrong;
    };
    for (const Range r : {Range{0, 64, false}, {64, 0, false}, {8, 64, true}, {72, 0, true}}) {
        INFO(r.offset << ", " << r.bytes);
        const auto check = [&](const char *function, const auto &call) {
            INFO(function);
            CHECK(is_stopped(call) == r.is_wrong);
        };
        check("pack", [&] { dev::pack(one, plan, typed, r.offset, r.bytes, packed); });
        check("unpack", [&] { dev::unpack(one, plan, packed, typed, r.offset, r.bytes); });
        check("copy", [&] { dev::copy(one, plan, typed, plan, other, r.offset, r.bytes); });
        check("pack, known",
              [&] { dev::pack(one, known(plan), typed, r.offset, r.bytes, packed); });
        check("unpack, known",
              [&] { dev::unpack(one, known(plan), packed, typed, r.offset, r.bytes); });
        check("copy, known",
              [&] { dev::copy(one, known(plan), typed, known(plan), other, r.offset, r.bytes); });
    }
    // In one of two plans.
    for (const auto &[from, to] : {std::pair(&plan, &shorter), std::pair(&shorter, &plan)}) {
        CHECK(is_stopped([&] { dev::copy(one, *from, typed, *to, other, 0, 40); }));
        CHECK(is_stopped([&] { dev::copy(one, known(*from), typed, known(*to), other, 0, 40); }));
        CHECK_FALSE(is_stopped([&] { dev::copy(one, *from, typed, *to, other, 0, 32); }));
    }
    std::uint64_t bytes = 0;
    CHECK_FALSE(is_stopped([&] { (void)dev::locate(plan, 63, &bytes); }));
    CHECK(is_stopped([&] { (void)dev::locate(plan, 64, &bytes); }));
    for (ucd_device_plan_t *each : {&plan, &shorter})
        CHECK(ucd_device_plan_free(each) == UCD_SUCCESS);
}

TEST_CASE("device code stops at a plan that is not what it takes it for") {
    DeviceSession session;
    const Bytes typed, other, packed;
    ucd_device_plan_t plan = plan_of(8);
    for (int i = 0; i < 2; ++i) {
        ucd_device_plan_t wrong = plan;
        if (i == 0)
            ++wrong.version;
        else
            --wrong.struct_size;
        std::uint64_t bytes = 0;
        CHECK(is_stopped([&] { dev::pack(one, wrong, typed, 0, 64, packed); }));
        CHECK(is_stopped([&] { dev::copy(one, wrong, typed, plan, other, 0, 64); }));
        CHECK(is_stopped([&] { dev::copy(one, plan, typed, wrong, other, 0, 64); }));
        CHECK(is_stopped([&] { (void)dev::locate(wrong, 0, &bytes); }));
    }
    CHECK(is_stopped([&] { (void)dev::known<16, dev::strided>(plan); }));
    // Words of eight bytes at other places than multiples of eight.
    CHECK(is_stopped([&] { dev::pack(one, known(plan), typed + 4, 0, 64, packed); }));
    CHECK(is_stopped([&] { dev::pack(one, known(plan), typed, 0, 64, packed + 4); }));
    CHECK(is_stopped([&] { dev::copy(one, known(plan), typed, known(plan), other, 4, 8); }));
    CHECK(ucd_device_plan_free(&plan) == UCD_SUCCESS);
}

} // namespace device_code_assertions_test
