// What stands under HIP, on threads of the CPU.
#include "driver_library.h"

#include "support/hip_on_threads/control.h"

namespace ucd::hip {

std::string missing_driver() {
    return "";
}

bool is_initialised() {
    return !hip_on_threads::knobs.uninitialised;
}

} // namespace ucd::hip
