// What each vendor's driver does in a way of its own. Declared here, defined in the vendor's folder.
#pragma once

#include "backend.h"
#include "vendor.h"

#include <memory>

namespace ucd::UCD_GPU::driver {

// Whether there is a driver that may have devices. Initialises nothing.
BackendState look();

// Initialises the driver and counts its devices, once.
const BackendState &initialise();

// Where an address is, but for the owner. False while nobody in this process has initialised the
// driver.
bool find(const void *address, Place &place);

// Whether another device than the memory's may use it, of memory with access of its own.
bool has_access(int device, const Place &place);

// The allocation that an address of device memory is in; a failure is worded.
Status find_allocation(const void *address, void *&start, std::size_t &bytes);

// Lets go of it when the graph that the stream is being captured into has gone, and all graphs made of
// that one. Where that happens, the runtime must not be called.
Status keep_with_graph(gpuStream_t stream, std::shared_ptr<void> what);

// Makes a device the calling thread's own for as long as this lives, and then what was before.
class Current {
public:
    explicit Current(int device);
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

    Status status; // a failure is worded
};

} // namespace ucd::UCD_GPU::driver
