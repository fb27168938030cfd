// Device memory between processes, as the driver shares it.
#include "support/catch.hpp"

#include "names.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace memory_test {

namespace {

constexpr int ints = 5000;
constexpr const char *child = "the other process", *variable = "UCD_TEST_IPC_HANDLE";

void check_ucd(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
}

std::string device() {
    return std::string(ucd::UCD_GPU::vendor_name) + ":0";
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

} // namespace

// Begun by the test below, with a handle in the environment.
TEST_CASE(child, "[.]") {
    const char *text = std::getenv(variable);
    REQUIRE(text != nullptr);
    const ucd_ipc_handle_t handle = to_handle(text);
    void *memory = nullptr;
    std::uintptr_t bytes = 0, actual = 0;
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
    void *memory = nullptr;
    const std::size_t bytes = 2 * ints * sizeof(int);
    check_ucd(ucd_memory_alloc(device().c_str(), UCD_MEMORY__DEVICE, bytes, &memory));
    std::vector<int> numbers(2 * ints);
    for (int i = 0; i < 2 * ints; ++i) numbers[static_cast<std::size_t>(i)] = i + 1;
    REQUIRE(gpuMemcpy(memory, numbers.data(), bytes, gpuMemcpyDefault) == gpuSuccess);
    REQUIRE(gpuStreamSynchronize(nullptr) == gpuSuccess);
    ucd_ipc_handle_t handle{};
    check_ucd(ucd_ipc_export(memory, bytes, &handle));
    const std::string text = to_text(handle);
    const pid_t other = ::fork(); // the driver is of no use in it until it is another program
    if (other == 0) {
        ::setenv(variable, text.c_str(), 1);
        ::execl("/proc/self/exe", "memory_test", child, static_cast<char *>(nullptr));
        ::_exit(1);
    }
    int status = -1;
    REQUIRE(::waitpid(other, &status, 0) == other);
    CHECK(status == 0);
    REQUIRE(gpuMemcpy(numbers.data(), memory, bytes, gpuMemcpyDefault) == gpuSuccess);
    int wrong = 0;
    for (int i = 0; i < 2 * ints; ++i)
        wrong += numbers[static_cast<std::size_t>(i)] != (i % 2 == 0 ? -(i + 1) : i + 1);
    CHECK(wrong == 0);
    check_ucd(ucd_memory_free(memory));
}

} // namespace memory_test
