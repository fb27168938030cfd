// Device memory of another process: a second run of this program, which exports what the tests of
// the first one ask for.
#include "support/catch.hpp"
#include "ze/driver.hpp"
#include "ze/moves.hpp"
#include "ze/program.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace ipc_test {

using namespace zetest;

namespace {

constexpr int ints = 5000;
constexpr uintptr_t bytes = 2 * ints * sizeof(int);
constexpr const char *exporter = "the exporting process", *variable = "UCD_TEST_ZE_EXPORTER";

long descriptors() {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
}

// Every second of 2 * ints.
class EverySecond {
public:
    EverySecond() {
        check_ucd(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type_));
    }
    ~EverySecond() { (void)ucd_free(&type_); }
    EverySecond(const EverySecond &) = delete;
    EverySecond &operator=(const EverySecond &) = delete;

    std::vector<int> pack(const void *memory) const {
        std::vector<int> packed(ints);
        uintptr_t actual = 0;
        check_ucd(ucd_pack(memory, 1, type_, 0, packed.data(), ints * sizeof(int), &actual,
                           UCD_INFO__NULL, UCD_OP__REPLACE));
        return packed;
    }
    void unpack(const std::vector<int> &packed, void *memory) const {
        uintptr_t actual = 0;
        check_ucd(ucd_unpack(packed.data(), ints * sizeof(int), memory, 1, type_, 0, &actual,
                             UCD_INFO__NULL, UCD_OP__REPLACE));
    }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

std::vector<int> numbers(int first, int step) {
    std::vector<int> made(2 * ints);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = first + static_cast<int>(i) * step;
    return made;
}

void *device_memory() {
    void *memory = nullptr;
    check_ucd(ucd_memory_alloc("ze:0", UCD_MEMORY__DEVICE, bytes, &memory));
    return memory;
}

ucd_ipc_handle_t handle_of(const void *memory) {
    ucd_ipc_handle_t handle{};
    check_ucd(ucd_ipc_export(memory, bytes, &handle));
    return handle;
}

template <class Thing>
void send(int pipe, const Thing &thing) {
    if (::write(pipe, &thing, sizeof thing) != sizeof thing) throw std::runtime_error("a pipe");
}
template <class Thing>
Thing receive(int pipe) {
    Thing thing;
    if (::read(pipe, &thing, sizeof thing) != sizeof thing) throw std::runtime_error("a pipe");
    return thing;
}

// The other process. A letter asks it for something.
class Exporter {
public:
    Exporter() {
        int there[2], back[2];
        REQUIRE(::pipe(there) == 0);
        REQUIRE(::pipe(back) == 0);
        process_ = ::fork(); // the driver is of no use in it until it is another program
        if (process_ == 0) {
            ::close(there[1]);
            ::close(back[0]);
            ::setenv(variable, (std::to_string(there[0]) + " " + std::to_string(back[1])).c_str(),
                     1);
            ::execl("/proc/self/exe", "ze_own", exporter, static_cast<char *>(nullptr));
            ::_exit(1);
        }
        ::close(there[0]);
        ::close(back[1]);
        to_ = there[1];
        from_ = back[0];
    }
    ~Exporter() { end(); }
    Exporter(const Exporter &) = delete;
    Exporter &operator=(const Exporter &) = delete;

    void end() {
        if (process_ <= 0) return;
        ::close(to_);
        ::close(from_);
        int status = -1;
        CHECK(::waitpid(process_, &status, 0) == process_);
        CHECK(status == 0);
        process_ = 0;
    }

    // Memory with 1, 2, 3, ... in it.
    ucd_ipc_handle_t allocate() const { return ask<ucd_ipc_handle_t>('a'); }
    void release() const { CHECK(ask<bool>('f')); }
    std::vector<int> contents() const {
        send(to_, 'c');
        std::vector<int> all;
        for (std::size_t i = 0; i < 2 * ints; ++i) all.push_back(receive<int>(from_));
        return all;
    }
    long descriptors() const { return ask<long>('d'); }

private:
    template <class Answer>
    Answer ask(char what) const {
        send(to_, what);
        return receive<Answer>(from_);
    }
    pid_t process_ = 0;
    int to_ = -1, from_ = -1;
};

int open(const ucd_ipc_handle_t &handle, void *&memory) {
    uintptr_t size = 0;
    const int rc = ucd_ipc_open(&handle, "ze:0", &memory, &size);
    if (rc == UCD_SUCCESS) CHECK(size == bytes);
    return rc;
}

// Containers and hardened kernels let no process look into another one.
bool is_forbidden(const Exporter &other) {
    void *memory = nullptr;
    const ucd_ipc_handle_t handle = other.allocate();
    const bool forbidden =
        open(handle, memory) == UCD_ERR__DEVICE && says("insufficient permissions");
    if (forbidden) WARN("this process may not take descriptors of another one");
    if (memory != nullptr) check_ucd(ucd_ipc_close(memory));
    other.release();
    return forbidden;
}

std::string place_of(const void *memory) {
    char text[32];
    std::uintptr_t needed = 0;
    check_ucd(
        ucd_get_memory(memory, 1, UCD_TYPE__BYTE, UCD_INFO__NULL, text, sizeof text, &needed));
    return text;
}

} // namespace

TEST_CASE(exporter, "[.]") {
    int from = -1, to = -1;
    REQUIRE(std::getenv(variable) != nullptr);
    REQUIRE(std::sscanf(std::getenv(variable), "%d %d", &from, &to) == 2);
    void *memory = nullptr;
    for (char what = 0; ::read(from, &what, 1) == 1;) {
        uintptr_t actual = 0;
        std::vector<int> all = numbers(1, 1);
        switch (what) {
        case 'a':
            memory = device_memory();
            check_ucd(ucd_pack(all.data(), 2 * ints, UCD_TYPE__INT, 0, memory, bytes, &actual,
                               UCD_INFO__NULL, UCD_OP__REPLACE));
            send(to, handle_of(memory));
            break;
        case 'f': send(to, ucd_memory_free(memory) == UCD_SUCCESS); break;
        case 'c':
            check_ucd(ucd_pack(memory, 2 * ints, UCD_TYPE__INT, 0, all.data(), bytes, &actual,
                               UCD_INFO__NULL, UCD_OP__REPLACE));
            for (const int value : all) send(to, value);
            break;
        case 'd': send(to, descriptors()); break;
        default: FAIL(what);
        }
    }
}

TEST_CASE("memory of another process is read and written", "[ipc]") {
    const Exporter other;
    if (is_forbidden(other)) return;
    const EverySecond odd;
    void *memory = nullptr;
    const ucd_ipc_handle_t handle = other.allocate();
    char device[32] = "";
    std::uintptr_t needed = 0;
    check_ucd(ucd_ipc_get_device(&handle, device, sizeof device, &needed));
    CHECK(std::string(device) == "ze:0");
    REQUIRE(open(handle, memory) == UCD_SUCCESS);
    CHECK(place_of(memory) == "ze:0");
    std::vector<int> packed = odd.pack(memory);
    for (int i = 0; i < ints; ++i) REQUIRE(packed[static_cast<std::size_t>(i)] == 2 * i + 1);
    for (int &value : packed) value = -value;
    odd.unpack(packed, memory);
    const std::vector<int> there = other.contents();
    for (int i = 0; i < 2 * ints; ++i)
        REQUIRE(there[static_cast<std::size_t>(i)] == (i % 2 == 0 ? -(i + 1) : i + 1));
    check_ucd(ucd_ipc_close(memory));
    // The memory has gone from here, and the owner has it.
    CHECK(place_of(memory) == "host");
    CHECK(ucd_ipc_close(memory) == UCD_ERR__INVALID_ARG);
    CHECK(other.contents() == there);
}

TEST_CASE("memory that is open twice is there until both are closed", "[ipc]") {
    const Driver driver;
    const Exporter other;
    if (is_forbidden(other)) return;
    const EverySecond odd;
    const ucd_ipc_handle_t handle = other.allocate();
    const int objects = driver.objects();
    void *first = nullptr, *second = nullptr;
    REQUIRE(open(handle, first) == UCD_SUCCESS);
    REQUIRE(open(handle, second) == UCD_SUCCESS);
    check_ucd(ucd_ipc_close(first));
    CHECK(odd.pack(second).back() == 2 * ints - 1);
    check_ucd(ucd_ipc_close(second));
    CHECK(driver.objects() == objects);
}

// The owner's descriptor, the copy of it here, and the process are looked up at each open.
TEST_CASE("no descriptor is left of 100,000 times open and close", "[ipc]") {
    const Exporter other;
    if (is_forbidden(other)) return;
    const ucd_ipc_handle_t handle = other.allocate();
    void *memory = nullptr;
    check_ucd(open(handle, memory));
    check_ucd(ucd_ipc_close(memory));
    const long here = descriptors(), there = other.descriptors();
    for (int i = 0; i < 100000; ++i) {
        uintptr_t size = 0;
        check_ucd(ucd_ipc_open(&handle, "ze:0", &memory, &size));
        check_ucd(ucd_ipc_close(memory));
    }
    CHECK(descriptors() == here);
    CHECK(other.descriptors() == there);
}

TEST_CASE("no descriptor is left of memory that is exported and freed", "[ipc]") {
    const long before = descriptors();
    for (int i = 0; i < 20000; ++i) {
        void *memory = device_memory();
        const ucd_ipc_handle_t handle = handle_of(memory), again = handle_of(memory);
        REQUIRE(std::memcmp(&handle, &again, sizeof handle) == 0);
        check_ucd(ucd_memory_free(memory));
    }
    CHECK(descriptors() == before);
    // What the program frees without a word is noticed at the next export.
    for (int i = 0; i < 100; ++i) {
        unsigned char *memory = program().memory(bytes);
        (void)handle_of(memory);
        require(zeMemFree(program().context, memory));
    }
    void *last = device_memory();
    (void)handle_of(last);
    check_ucd(ucd_memory_free(last));
    CHECK(descriptors() <= before + 1);
}

TEST_CASE("a handle of what is no more does not open", "[ipc]") {
    Exporter other;
    if (is_forbidden(other)) return;
    void *memory = nullptr;
    const ucd_ipc_handle_t freed = other.allocate();
    other.release();
    CHECK(open(freed, memory) == UCD_ERR__DEVICE);
    CHECK(std::string(ucd_last_error()).find("not available") != std::string::npos);
    // Other memory has the same descriptor by now, or not.
    const ucd_ipc_handle_t handle = other.allocate();
    CHECK(open(freed, memory) == UCD_ERR__DEVICE);
    CHECK(open(handle, memory) == UCD_SUCCESS);
    check_ucd(ucd_ipc_close(memory));
    other.end();
    CHECK(open(handle, memory) == UCD_ERR__DEVICE);
    CHECK(memory != nullptr);
}

TEST_CASE("each call for other processes may fail", "[ipc]") {
    const Driver driver;
    const Exporter other;
    if (is_forbidden(other)) return;
    const ucd_ipc_handle_t handle = other.allocate();
    void *memory = nullptr, *mine = device_memory();
    const long before = descriptors();
    const int objects = driver.objects();
    // The second call is to find out whose the descriptor is.
    for (const char *call : {"zeMemGetIpcHandle:1", "zeMemGetIpcHandle:2"}) {
        INFO(call);
        driver.fail(call);
        ucd_ipc_handle_t made{};
        CHECK(ucd_ipc_export(mine, bytes, &made) == UCD_ERR__DEVICE);
    }
    driver.fail("zeDriverGetExtensionFunctionAddress"); // then memory is taken to have one part
    (void)handle_of(mine);
    driver.fail("zeMemOpenIpcHandle");
    CHECK(open(handle, memory) == UCD_ERR__DEVICE);
    CHECK(memory == nullptr);
    driver.fail("");
    // The mapping stays the driver's, and is not this process's any more.
    check_ucd(open(handle, memory));
    driver.fail("zeMemCloseIpcHandle");
    check_ucd(ucd_ipc_close(memory));
    driver.fail("");
    CHECK(ucd_ipc_close(memory) == UCD_ERR__INVALID_ARG);
    CHECK(driver.objects() == objects + 1);
    check_ucd(open(handle, memory));
    check_ucd(ucd_ipc_close(memory));
    CHECK(driver.objects() == objects);
    check_ucd(ucd_memory_free(mine));
    CHECK(descriptors() < before); // its own file has gone, too
}

TEST_CASE("memory in several parts is not exported", "[ipc]") {
    const Driver driver;
    void *memory = device_memory();
    driver.spread(true);
    ucd_ipc_handle_t handle{};
    CHECK(ucd_ipc_export(memory, bytes, &handle) == UCD_ERR__NOT_SUPPORTED);
    driver.spread(false);
    CHECK(ucd_ipc_export(memory, bytes, &handle) == UCD_SUCCESS);
    check_ucd(ucd_memory_free(memory));
}

} // namespace ipc_test
