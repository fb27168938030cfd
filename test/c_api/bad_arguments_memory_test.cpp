// What ucd_memory.h refuses where there is no device. With devices: hostgpu_memory_test.cpp.
#include "c_api/refusal.hpp"

#include <string>
#include <unistd.h>

namespace bad_arguments_memory_test {

using namespace ucdtest;

TEST_CASE_METHOD(Refusing, "ucd_memory_alloc refuses") {
    const char *const f = "ucd_memory_alloc";
    const auto call = [&](const char *device, int kind, std::uintptr_t bytes) {
        return ucd_memory_alloc(device, kind, bytes, &o.address);
    };
    r.needs(f, ucd_memory_alloc, {"device", nullptr, nullptr, "address"}, "cuda:0",
            UCD_MEMORY__DEVICE, 8, &o.address);
    r.invalid(f, "bytes is 0", [&] { return call("cuda:0", UCD_MEMORY__DEVICE, 0); });
    for (const int kind : {-1, 2, INT32_MAX})
        r.invalid(f, "kind is " + std::to_string(kind), [&] { return call("cuda:0", kind, 8); });
    for (const char *device : {"", "cuda", "cuda:", "cuda:-1", "cuda:1x", "teapot:0",
                               "cuda:9999999999", "host", "pinned", "managed", "seq:0"})
        r.invalid(f, "device is \"" + std::string(device) + "\"; it must be a GPU backend's name",
                  [&] { return call(device, UCD_MEMORY__PINNED, 8); });
    for (const char *device : {"hip:0", "ze:0"})
        r.refused(f, UCD_ERR__NOT_SUPPORTED, "not available",
                  [&] { return call(device, UCD_MEMORY__DEVICE, 8); });
}

TEST_CASE_METHOD(Refusing, "ucd_memory_free refuses what ucd_memory_alloc did not give out") {
    r.invalid("ucd_memory_free", "ucd_memory_alloc did not give out",
              [&] { return ucd_memory_free(r.out.data); });
}

TEST_CASE_METHOD(Refusing, "ucd_ipc_export refuses") {
    const char *const f = "ucd_ipc_export";
    r.needs(f, ucd_ipc_export, {"address", nullptr, "handle"}, o.data, 8, &o.handle);
    r.invalid(f, "bytes is 0", [&] { return ucd_ipc_export(o.data, 0, &o.handle); });
    r.invalid(f, "not in memory of a device", [&] { return ucd_ipc_export(o.data, 8, &o.handle); });
}

TEST_CASE_METHOD(Refusing, "ucd_ipc_export_fds refuses") {
    const char *const f = "ucd_ipc_export_fds";
    int fds[2] = {-7, -7}, count = 2, negative = -1;
    r.needs(f, ucd_ipc_export_fds, {"address", nullptr, "handle", nullptr, "count"}, o.data, 8,
            &o.handle, fds, &count);
    r.invalid(f, "count is -1",
              [&] { return ucd_ipc_export_fds(o.data, 8, &o.handle, fds, &negative); });
    r.invalid(f, "bytes is 0",
              [&] { return ucd_ipc_export_fds(o.data, 0, &o.handle, fds, &count); });
    r.invalid(f, "not in memory of a device",
              [&] { return ucd_ipc_export_fds(o.data, 8, &o.handle, nullptr, &count); });
    CHECK((count == 2 && fds[0] == -7));
}

TEST_CASE_METHOD(Refusing, "ucd_ipc_open_fds refuses") {
    const char *const f = "ucd_ipc_open_fds";
    const ucd_ipc_handle_t handle = {};
    const int none[1] = {-1};
    r.invalid(f, "count is -1",
              [&] { return ucd_ipc_open_fds(&handle, none, -1, "cuda:0", &o.address, &o.size); });
    r.invalid(f, "count is 254",
              [&] { return ucd_ipc_open_fds(&handle, none, 254, "cuda:0", &o.address, &o.size); });
    r.invalid(f, "fds is NULL",
              [&] { return ucd_ipc_open_fds(&handle, nullptr, 1, "cuda:0", &o.address, &o.size); });
    r.invalid(f, "which is not open",
              [&] { return ucd_ipc_open_fds(&handle, none, 1, "cuda:0", &o.address, &o.size); });
    r.needs(f, ucd_ipc_open_fds, {"handle", nullptr, nullptr, "device", "address", "bytes"},
            &handle, nullptr, 0, "cuda:0", &o.address, &o.size);
    // A descriptor may be one that programs inherit. Then it is the device that is missing.
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    r.invalid(f, "device is",
              [&] { return ucd_ipc_open_fds(&handle, ends, 1, "teapot:0", &o.address, &o.size); });
    for (const int end : ends) CHECK(::close(end) == 0);
}

TEST_CASE_METHOD(Refusing, "ucd_ipc_get_device refuses") {
    const char *const f = "ucd_ipc_get_device";
    const ucd_ipc_handle_t none = {};
    r.needs(f, ucd_ipc_get_device, {"handle", "device", nullptr, "needed"}, &none, o.text,
            sizeof o.text, &o.size);
    r.refused(f, UCD_ERR__CORRUPT, "handle's bytes are not of ucd_ipc_export",
              [&] { return ucd_ipc_get_device(&none, nullptr, 0, &o.size); });
}

TEST_CASE_METHOD(Refusing, "ucd_ipc_open and ucd_ipc_close refuse") {
    const char *const f = "ucd_ipc_open";
    const ucd_ipc_handle_t handle = {};
    r.needs(f, ucd_ipc_open, {"handle", "device", "address", "bytes"}, &handle, "cuda:0",
            &o.address, &o.size);
    r.invalid(f, "it must be a GPU backend's name",
              [&] { return ucd_ipc_open(&handle, "seq:0", &o.address, &o.size); });
    const char *const g = "ucd_ipc_close";
    r.needs(g, ucd_ipc_close, {"address"}, o.data);
    r.invalid(g, "ucd_ipc_open did not give out", [&] { return ucd_ipc_close(o.data); });
}

} // namespace bad_arguments_memory_test
