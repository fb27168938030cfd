#include "preload/device.h"

#include "preload/settings.h"
#include "support/heap_and_stack.h"

#include <ucd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <iterator>
#include <mutex>
#include <string_view>

namespace ucd_mpi {

std::atomic<Devices> devices_found{Devices::unknown};

namespace {

// Reads ucd_describe's text, because ucd_backend_get would initialise drivers. A backend that is
// available has two lines there, any other has one. The CPU's backend is always available.
bool has_device_backend() {
    int backends = 0;
    uintptr_t bytes = 0;
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS || ucd_backend_count(&backends) != UCD_SUCCESS)
        return false;
    (void)ucd_describe(UCD_TYPE__BYTE, nullptr, 0, &bytes);
    std::string text(bytes, '\0');
    if (ucd_describe(UCD_TYPE__BYTE, text.data(), bytes, &bytes) != UCD_SUCCESS) return true;
    int lines = 0;
    constexpr std::string_view key = "\nkernel:";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
        ++lines;
    return lines > backends + 1;
}

// The MPI library says by such a function whether it reads the device memory of a backend.
struct Question {
    std::string_view backend;
    const char *function;
};
constexpr Question questions[] = {{"cuda:", "MPIX_Query_cuda_support"},
                                  {"hip:", "MPIX_Query_rocm_support"},
                                  {"hip:", "MPIX_Query_hip_support"},
                                  {"ze:", "MPIX_Query_ze_support"}};

// A program that has such memory has loaded one of these.
struct Driver {
    std::string_view backend;
    const char *library;
};
constexpr Driver drivers[] = {{"cuda:", "libcuda.so.1"},
                              {"hip:", "libamdhip64.so.5"},
                              {"hip:", "libamdhip64.so.6"},
                              {"hip:", "libamdhip64.so.7"},
                              {"ze:", "libze_loader.so.1"}};

bool is_read_by_mpi(std::string_view name) {
    if (settings().gpu_aware) return *settings().gpu_aware;
    for (const Question &question : questions) {
        if (!name.starts_with(question.backend)) continue;
        const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, question.function));
        if (ask != nullptr && ask() == 1) return true;
    }
    return false;
}

bool is_loaded(const char *library) {
    void *const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) dlclose(handle);
    return handle != nullptr;
}

std::atomic<bool> device_used{false};

// Never destroyed, because messages may be in progress when the process ends.
struct KnownDevices {
    std::mutex mutex;
    std::deque<NamedDevice> devices;
};

const NamedDevice *find_device(const char *name) {
    static KnownDevices &known = *new KnownDevices;
    const std::lock_guard lock(known.mutex);
    for (const NamedDevice &device : known.devices)
        if (device.name == name) return &device;
    known.devices.push_back({name, is_read_by_mpi(name)});
    device_used.store(true, std::memory_order_release);
    return &known.devices.back();
}

} // namespace

bool look_for_devices() {
    static const bool some = has_device_backend();
    devices_found.store(some ? Devices::some : Devices::none, std::memory_order_release);
    return some;
}

bool has_unknown_devices() {
    if (has_devices()) return false;
    return std::any_of(std::begin(drivers), std::end(drivers), [](const Driver &driver) {
        return is_loaded(driver.library) && is_read_by_mpi(driver.backend);
    });
}

bool uses_devices() {
    return device_used.load(std::memory_order_acquire);
}

const NamedDevice *device_of(const void *address) {
    char name[32];
    uintptr_t needed;
    // Checking heap and stack first avoids asking the driver, which takes longer than to send a
    // small message.
    if (!has_devices() || ucd::in_heap_or_stack(address) ||
        ucd_get_memory(address, 1, UCD_TYPE__BYTE, UCD_INFO__NULL, name, sizeof name, &needed) !=
            UCD_SUCCESS)
        return nullptr;
    if (std::strchr(name, ':') == nullptr) return nullptr; // host, pinned or managed
    [[gnu::tls_model("initial-exec")]] thread_local const NamedDevice *last = nullptr;
    if (last == nullptr || last->name != name) last = find_device(name);
    return last;
}

} // namespace ucd_mpi
