// Memory of the test driver's devices.
#pragma once

#include "support/ze_driver/state.h"

namespace zedriver {

Result allocate(Context *context, std::size_t bytes, std::size_t alignment, ze_memory_type_t type,
                Device *device, void **address);
Result release(Context *context, void *address);

} // namespace zedriver
