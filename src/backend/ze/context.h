// What this process uses of Level Zero: one driver, its devices, and one context. Memory of another
// context is not this library's, even if its addresses look the same.
#pragma once

#include "backend.h"

#include <level_zero/ze_api.h>

#include <mutex>
#include <string>
#include <vector>

namespace ucd::ze {

struct DeviceFacts {
    ze_device_handle_t device = nullptr;
    std::string name;
    uint32_t compute_queues = 0; // the ordinal of the group whose queues run kernels
    int processors = 1;
    bool doubles = false;
};

struct Found {
    BackendState state;
    ze_driver_handle_t driver = nullptr;
    ze_context_handle_t context = nullptr;
    std::vector<DeviceFacts> devices;

    bool has(int device) const {
        return device >= 0 && static_cast<std::size_t>(device) < devices.size();
    }
    const DeviceFacts &of(int device) const { return devices[static_cast<std::size_t>(device)]; }
    // -1 if it is none of them.
    int number_of(ze_device_handle_t device) const;
};

// Initialises the driver, once.
const Found &found();

// Whether anybody has asked found().
bool is_initialised();

// Names the context that found() will take, instead of making one. INVALID_ARG if it has another
// one by now.
Status adopt(ze_context_handle_t context);
// Whether a context was named, so that addresses are worth a look.
bool has_adopted();

// The calling thread's.
int current_device();
void set_current_device(int device);

} // namespace ucd::ze
