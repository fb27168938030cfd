// What each vendor's driver does in a way of its own. Declared here, defined in the vendor's
// folder.
#pragma once

#include "backend.h"
#include "vendor.h"

#include <memory>
#include <string>

namespace ucd::UCD_GPU::driver {

// Whether there is a driver that may have devices. Initialises nothing.
BackendState look();

// Initialises the driver and counts its devices, once.
const BackendState &initialise();

// What its vendor calls a device, which initialise() has counted; "" if the driver does not say.
std::string name_of(int device);

// The context that the user's memory of a device belongs to, if the vendor's driver has several.
Status use_context(uint64_t context, int device);

// Where an address is, but for the owner; `place` stays the host's if the driver does not know, and
// until some code in this process initialises it. DEVICE, worded: the driver fails, and the host
// cannot read what is there.
Status find(const void *address, MemoryLocation &place);

// An address that find() does not know: INVALID_ARG, worded, if it may be in memory of another
// context, and surely not in the host's.
Status check_unknown(const void *address);

// Whether a device uses pinned and managed memory of another one.
bool shares_host_memory(int device, const MemoryLocation &place);

// Whether all devices compute with elements of this kind.
bool has_element(Element element);

// Whether a device may use memory of another one, for memory that has access rights of its own.
bool has_access(int device, const MemoryLocation &place);

// The allocation that an address of device memory is in; a failure is worded.
Status find_allocation(const void *address, void *&start, std::size_t &bytes);

// The device that a stream belongs to; of a default stream, the calling thread's current one. A
// failure is worded.
Status find_device(gpuStream_t stream, int &device);

// A caller's stream, before work is put into it: valid until the same thread enters another one. A
// failure is worded.
Status enter(const NativeStream &native, gpuStream_t &stream);

// Keeps it until the graph that the stream is being captured into is destroyed, and all graphs made
// from that one. The destructor of `what` may not call the runtime. NOT_SUPPORTED if the vendor's
// graphs keep nothing.
Status keep_with_graph(gpuStream_t stream, std::shared_ptr<void> what);

// Makes a device the calling thread's own for as long as this lives, and then what was before.
class Current {
public:
    explicit Current(int device);
    ~Current();
    Current(const Current &) = delete;
    Current &operator=(const Current &) = delete;

    Status status; // a failure is worded

private:
    [[maybe_unused]] bool pushed_ = false; // it was not current before
    [[maybe_unused]] int before_ = 0; // what was current, where the runtime has no stack of devices
};

} // namespace ucd::UCD_GPU::driver
