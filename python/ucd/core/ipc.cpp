// Device memory that other processes open: libucd's IPC handles as bytes.
#include "core/ipc.h"

#include "core/move.h"
#include "core/view.h"

#include <ucd_memory.h>

#include <cstring>
#include <string>

#include <nanobind/stl/string.h>

namespace ucdpy {

namespace {

// A handle of the memory from an array's first element to its last. None if drivers do not share it
// by a handle alone: host memory, pools, memory that is mapped in pieces. None also for an array
// with elements before its first one.
nb::object ipc_export(nb::handle array) {
    const View view(array);
    const View::Range range = view.range();
    if (!view.backend || range.low < 0 || range.high == 0) return nb::none();
    ucd_ipc_handle_t handle;
    const int rc = run(false, [&] {
        return ucd_ipc_export(view.data, static_cast<uintptr_t>(range.high), &handle);
    });
    if (rc == UCD_ERR__INVALID_ARG || rc == UCD_ERR__NOT_SUPPORTED || rc == UCD_ERR__DEVICE)
        return nb::none();
    check(rc);
    return nb::bytes(reinterpret_cast<const char *>(handle.bytes), sizeof handle.bytes);
}

nb::tuple ipc_open(const nb::bytes &given, const std::string &device) {
    ucd_ipc_handle_t handle;
    if (given.size() != sizeof handle.bytes)
        raise(PyExc_ValueError, "a handle has %zu bytes; this one has %zu", sizeof handle.bytes,
              given.size());
    std::memcpy(handle.bytes, given.c_str(), sizeof handle.bytes);
    void *address = nullptr;
    uintptr_t bytes = 0;
    check(run(false, [&] { return ucd_ipc_open(&handle, device.c_str(), &address, &bytes); }));
    return nb::make_tuple(reinterpret_cast<uintptr_t>(address), bytes);
}

void ipc_close(uintptr_t address) {
    check(run(false, [&] { return ucd_ipc_close(reinterpret_cast<void *>(address)); }));
}

} // namespace

void bind_ipc(nb::module_ &m) {
    using nb::arg;
    m.def("ipc_export", &ipc_export, arg("array"));
    m.def("ipc_open", &ipc_open, arg("handle"), arg("device"));
    m.def("ipc_close", &ipc_close, arg("address"));
}

} // namespace ucdpy
