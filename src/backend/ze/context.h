// What this process uses of Level Zero: drivers, their devices, and one context of each driver.
// Memory, lists, modules and events belong to a context. Memory of another context is not this
// library's, even if its addresses look the same.
#pragma once

#include "backend.h"

#include <level_zero/ze_api.h>

#include <optional>
#include <string>
#include <vector>

namespace ucd::ze {

inline constexpr std::size_t max_drivers = 8;

struct DriverFacts {
    ze_driver_handle_t driver = nullptr;
    ze_context_handle_t own_context = nullptr; // in use unless the user names another one
};

struct DeviceFacts {
    std::size_t driver = 0;
    ze_device_handle_t device = nullptr;
    std::vector<ze_device_handle_t> parts; // sub-devices, whose memory is the device's
    std::string name;
    uint32_t compute_queues = 0;         // the ordinal of the group whose queues run kernels
    std::optional<uint32_t> copy_queues; // of a group whose queues only copy
    int processors = 1;
    bool doubles = false;
};

struct Found {
    BackendState state;
    std::vector<DriverFacts> drivers;
    std::vector<DeviceFacts> devices;

    bool has(int device) const {
        return device >= 0 && static_cast<std::size_t>(device) < devices.size();
    }
    const DeviceFacts &of(int device) const { return devices[static_cast<std::size_t>(device)]; }
    // The device that this one of a driver is, or is a part of; null: its first one. -1 if none.
    int number_of(std::size_t driver, ze_device_handle_t device) const;
};

// Initialises the drivers, once.
const Found &found();

// Whether anybody has asked found().
bool is_initialised();

// Names the context to use, of the driver of that device; while nobody has asked found(), device 0.
// INVALID_ARG if another one is in use by now.
Status adopt(ze_context_handle_t context, int device);

// The context in use; the first call settles which one.
ze_context_handle_t context_of(int device);
// Null as long as that is not settled: no memory belongs to it yet.
ze_context_handle_t context_in_use(std::size_t driver);
// Whether a context was named, so that addresses are worth a look.
bool has_adopted();

// The calling thread's.
int current_device();
void set_current_device(int device);
// Its context.
inline ze_context_handle_t current_context() {
    return context_of(current_device());
}

} // namespace ucd::ze
