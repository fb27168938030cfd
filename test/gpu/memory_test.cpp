// Device memory between processes, as the driver shares it, and beside the captures of other
// threads.
#include "support/catch.hpp"

#include "names.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace memory_test {

namespace {

constexpr int ints = 5000;
constexpr const char *child = "the other process", *variable = "UCD_TEST_IPC_HANDLE";
// Of another process: the device of the handle, or "" if it does not see that.
constexpr const char *asked = "the process that is asked", *expected = "UCD_TEST_IPC_DEVICE";

void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

std::string device(int number = 0) {
    return std::string(ucd::UCD_GPU::vendor_name) + ":" + std::to_string(number);
}

void *allocate_on(int number, std::size_t bytes) {
    void *memory = nullptr;
    check_ucd(ucd_memory_alloc(device(number).c_str(), UCD_MEMORY__DEVICE, bytes, &memory));
    return memory;
}

std::string to_text(const ucd_ipc_handle_t &handle) {
    std::string text;
    for (const char byte : std::string_view(reinterpret_cast<const char *>(&handle), sizeof handle))
        text += {static_cast<char>('a' + (byte >> 4 & 15)), static_cast<char>('a' + (byte & 15))};
    return text;
}

ucd_ipc_handle_t to_handle(const char *text) {
    ucd_ipc_handle_t handle;
    for (std::size_t i = 0; i < sizeof handle; ++i)
        reinterpret_cast<char *>(&handle)[i] =
            static_cast<char>((text[2 * i] - 'a') << 4 | (text[2 * i + 1] - 'a'));
    return handle;
}

// Every second of 2 * ints.
ucd_type_t every_second() {
    ucd_type_t type = UCD_TYPE__NULL;
    check_ucd(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type));
    return type;
}

ucd_ipc_handle_t exported(const void *memory, std::size_t bytes) {
    ucd_ipc_handle_t handle{};
    check_ucd(ucd_ipc_export(memory, bytes, &handle));
    return handle;
}

// The name of the handle's device; "" if it is not known.
std::string device_of(const ucd_ipc_handle_t &handle) {
    char name[32] = "";
    std::uintptr_t needed = 0;
    const int rc = ucd_ipc_get_device(&handle, name, sizeof name, &needed);
    if (rc != UCD_ERR__NOT_SUPPORTED) check_ucd(rc);
    return name;
}

using Variables = std::vector<std::pair<const char *, std::string>>;

// Runs a test case in a process with such an environment, and checks that it passes.
void run_other(const char *test_case, const Variables &environment) {
    const pid_t other = ::fork(); // the driver is of no use in it until it is another program
    if (other == 0) {
        for (const auto &[name, value] : environment) ::setenv(name, value.c_str(), 1);
        ::execl("/proc/self/exe", "memory_test", test_case, static_cast<char *>(nullptr));
        ::_exit(1);
    }
    int status = -1;
    REQUIRE(::waitpid(other, &status, 0) == other);
    CHECK(status == 0);
}

} // namespace

// Begun by the test below, with a handle in the environment.
TEST_CASE(child, "[.]") {
    const char *text = std::getenv(variable);
    REQUIRE(text != nullptr);
    const ucd_ipc_handle_t handle = to_handle(text);
    void *memory = nullptr;
    std::uintptr_t bytes = 0, actual = 0;
    CHECK(device_of(handle) == device());
    check_ucd(ucd_ipc_open(&handle, device().c_str(), &memory, &bytes));
    CHECK(bytes == 2 * ints * sizeof(int));
    ucd_type_t type = every_second();
    std::vector<int> packed(ints);
    check_ucd(ucd_pack(memory, 1, type, 0, packed.data(), ints * sizeof(int), &actual,
                       UCD_INFO__NULL, UCD_OP__REPLACE));
    for (int &value : packed) value = -value;
    check_ucd(ucd_unpack(packed.data(), ints * sizeof(int), memory, 1, type, 0, &actual,
                         UCD_INFO__NULL, UCD_OP__REPLACE));
    check_ucd(ucd_free(&type));
    check_ucd(ucd_ipc_close(memory));
}

TEST_CASE("another process changes device memory that it was given") {
    const std::size_t bytes = 2 * ints * sizeof(int);
    void *const memory = allocate_on(0, bytes);
    std::vector<int> numbers(2 * ints);
    for (int i = 0; i < 2 * ints; ++i) numbers[static_cast<std::size_t>(i)] = i + 1;
    REQUIRE(gpuMemcpy(memory, numbers.data(), bytes, gpuMemcpyDefault) == gpuSuccess);
    REQUIRE(gpuStreamSynchronize(nullptr) == gpuSuccess);
    run_other(child, {{variable, to_text(exported(memory, bytes))}});
    REQUIRE(gpuMemcpy(numbers.data(), memory, bytes, gpuMemcpyDefault) == gpuSuccess);
    int wrong = 0;
    for (int i = 0; i < 2 * ints; ++i)
        wrong += numbers[static_cast<std::size_t>(i)] != (i % 2 == 0 ? -(i + 1) : i + 1);
    CHECK(wrong == 0);
    check_ucd(ucd_memory_free(memory));
}

TEST_CASE("memory is allocated, and a pack staged, while another thread captures a graph") {
    const std::size_t bytes = 2 * ints * sizeof(int);
    void *const memory = allocate_on(0, bytes);
    std::vector<int> numbers(2 * ints), packed(ints);
    for (int i = 0; i < 2 * ints; ++i) numbers[static_cast<std::size_t>(i)] = i;
    REQUIRE(gpuMemcpy(memory, numbers.data(), bytes, gpuMemcpyDefault) == gpuSuccess);
    REQUIRE(gpuStreamSynchronize(nullptr) == gpuSuccess);
    const auto beside = [&] {
        check_ucd(ucd_memory_free(allocate_on(0, 4096)));
        ucd_type_t type = every_second();
        std::uintptr_t actual = 0;
        check_ucd(ucd_pack(memory, 1, type, 0, packed.data(), ints * sizeof(int), &actual,
                           UCD_INFO__NULL, UCD_OP__REPLACE));
        check_ucd(ucd_free(&type));
    };
    gpuStream_t stream;
    gpuGraph_t graph = nullptr;
    REQUIRE(gpuStreamCreateWithFlags(&stream, gpuStreamNonBlocking) == gpuSuccess);
    REQUIRE(gpuStreamBeginCapture(stream, gpuStreamCaptureModeGlobal) == gpuSuccess);
    CHECK_NOTHROW(std::async(std::launch::async, beside).get());
    CHECK(gpuStreamEndCapture(stream, &graph) == gpuSuccess);
    if (graph != nullptr) CHECK(gpuGraphDestroy(graph) == gpuSuccess);
    CHECK(gpuStreamDestroy(stream) == gpuSuccess);
    int wrong = 0;
    for (int i = 0; i < ints; ++i) wrong += packed[static_cast<std::size_t>(i)] != 2 * i;
    CHECK(wrong == 0);
    check_ucd(ucd_memory_free(memory));
}

// Begun by the test below.
TEST_CASE(asked, "[.]") {
    const char *text = std::getenv(variable), *name = std::getenv(expected);
    REQUIRE((text != nullptr && name != nullptr));
    CHECK(device_of(to_handle(text)) == name);
}

TEST_CASE("another process finds the device of a handle, if it sees that device") {
    int devices = 0;
    REQUIRE(gpuGetDeviceCount(&devices) == gpuSuccess);
    for (int i = 0; i < devices; ++i) {
        void *const memory = allocate_on(i, 64);
        const ucd_ipc_handle_t handle = exported(memory, 64);
        const std::string text = to_text(handle);
        CHECK(device_of(handle) == device(i));
        run_other(asked, {{variable, text}, {expected, device(i)}});
        // HIP for NVIDIA's devices heeds CUDA's variable.
        const bool chosen = std::getenv("CUDA_VISIBLE_DEVICES") != nullptr ||
                            std::getenv("HIP_VISIBLE_DEVICES") != nullptr;
        for (int seen = 0; seen < devices && !chosen; ++seen)
            run_other(asked, {{variable, text},
                              {expected, seen == i ? device(0) : ""},
                              {"CUDA_VISIBLE_DEVICES", std::to_string(seen)},
                              {"HIP_VISIBLE_DEVICES", std::to_string(seen)}});
        check_ucd(ucd_memory_free(memory));
    }
}

} // namespace memory_test
