// Level Zero's objects in this process: drivers, their devices, and one context of each driver.
// Memory, lists, modules and events belong to a context. Memory of another context cannot be used,
// even if its addresses look the same.
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
    ze_context_handle_t own_context = nullptr; // used unless the user names another one
};

struct DeviceFacts {
    std::size_t driver = 0;
    ze_device_handle_t device = nullptr;
    std::vector<ze_device_handle_t> parts; // sub-devices, which share the device's memory
    uint32_t compute_queues = 0;           // ordinal of the queue group that runs kernels
    std::optional<uint32_t> copy_queues;   // ordinal of a queue group that only copies
    int processors = 1;
    uint64_t identity = 0; // see Backend::device_identity
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
    // The number of a driver's device, or of the device that a sub-device belongs to. Null stands
    // for the driver's first device. -1 if there is none.
    int number_of(std::size_t driver, ze_device_handle_t device) const;
};

// The drivers and devices; the first call initialises the drivers.
const Found &found();

// Whether found() has been called.
bool is_initialised();

// Sets the context to use for the driver of a device; before the first call of found(), device 0.
// INVALID_ARG if another context is already in use.
Status adopt(ze_context_handle_t context, int device);

// The context in use. The first call decides which one that is.
ze_context_handle_t context_of(int device);
// The same, but null as long as that is not decided: no memory belongs to the context yet.
ze_context_handle_t context_in_use(std::size_t driver);
// Whether the user has named a context, so that addresses may be device memory.
bool has_adopted();

// The current device of the calling thread.
int current_device();
void set_current_device(int device);
// The context of the current device.
inline ze_context_handle_t current_context() {
    return context_of(current_device());
}

} // namespace ucd::ze
