// Functions that differ between vendors' drivers. Declared here, defined in the vendor's folder.
// Only vendors that set has_contexts define use_context(), check_unknown() and
// shares_host_memory().
#pragma once

#include "backend.h"
#include "vendor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ucd::UCD_GPU::driver {

inline BackendState unavailable(const std::string &reason) {
    BackendState state;
    state.reason = reason;
    return state;
}

// Makes a number of the bytes that tell a device from all others; 0 if all bytes are 0.
inline uint64_t identity_of(const void *bytes, std::size_t count) {
    uint64_t identity = 0;
    for (std::size_t i = 0; i < count; ++i)
        identity = (identity ^ static_cast<const unsigned char *>(bytes)[i]) * 0x100000001b3u;
    return identity;
}

// Whether there is a driver that may have devices. Does not initialise it.
BackendState look();

// Initialises the driver and counts its devices, once.
const BackendState &initialise();

// See Backend::device_identity. The driver must have been initialised.
uint64_t identify(int device);

// Sets the context that the user's memory of a device belongs to, if the vendor's driver has
// several.
Status use_context(uint64_t context, int device);

// Finds the memory of an address, without its owner. `location` remains host memory if the driver
// does not know the address, and as long as no code in this process has initialised the driver.
// DEVICE if the driver fails and the host cannot read the address.
Status find(const void *address, MemoryLocation &location);

// For an address that find() does not know: INVALID_ARG if it may be in memory of another context,
// and is certainly not in host memory.
Status check_unknown(const void *address);

// Whether a device can access pinned and managed memory of another one.
bool shares_host_memory(int device, const MemoryLocation &location);

// Whether all devices can compute with elements of this kind.
bool has_element(Element element);

// Whether a device may access memory of another one, for memory that has access rights of its own.
bool has_access(int device, const MemoryLocation &location);

// Finds the allocation that contains an address of device memory.
Status find_allocation(const void *address, void *&start, std::size_t &bytes);

// Finds the device of a stream; for a default stream, the calling thread's current device.
Status find_device(gpuStream_t stream, int &device);

// Prepares a caller's stream for work. The result is valid until the same thread calls this again.
Status enter(const NativeStream &native, gpuStream_t &stream);

// Keeps `what` until the graph that the stream is being captured into, and all graphs made from it,
// are destroyed. The destructor of `what` may not call the runtime. NOT_SUPPORTED if the vendor's
// graphs cannot own objects.
Status keep_with_graph(gpuStream_t stream, std::shared_ptr<void> what);

// Makes a device current in the calling thread, and restores the previous one when destroyed.
class Current {
public:
    explicit Current(int device);
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

    Status status; // of making the device current

private:
    [[maybe_unused]] bool pushed_ = false; // the device was not current before
    [[maybe_unused]] int before_ = 0; // the previous device, if the runtime has no stack of them
};

} // namespace ucd::UCD_GPU::driver
