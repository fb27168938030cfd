// Memory of the test driver's devices.
#pragma once

#include "support/ze_driver/state.h"

namespace zedriver {

Result allocate(Context *context, std::size_t bytes, std::size_t alignment, ze_memory_type_t type,
                Device *device, void **address);
Result release(Context *context, void *address);

// With other processes: the memory is a file, of which a handle has a descriptor.
Result share(Context *context, const void *address, ze_ipc_mem_handle_t &handle);
Result open(Context *context, Device *device, const ze_ipc_mem_handle_t &handle, void **address);
Result close(Context *context, const void *address);

} // namespace zedriver
