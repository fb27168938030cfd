// The memory of a GPU vendor's devices for the tests of device moves, in the place of the mock's
// driver. With one device, it stands for both.
#include "support/fake_device/fake_driver.h"

#include "vendor.h"

#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace mock {

namespace {

void check(gpuError_t error, const char *what) {
    if (error != gpuSuccess)
        throw std::runtime_error(std::string(what) + ": " + gpuGetErrorString(error));
}

struct Memory {
    ucd::MemoryKind kind;
    int device;
};
std::mutex mutex;
std::map<const void *, Memory> memories; // that are allocated

// From now on, the calling thread uses the device of the memory that begins there or before.
void use_device_of(const void *address) {
    const std::lock_guard lock(mutex);
    const auto behind = memories.upper_bound(address);
    if (behind == memories.begin()) return; // the host's
    check(gpuSetDevice(std::prev(behind)->second.device), "choosing a device");
}

int second_device() {
    int devices = 0;
    return gpuGetDeviceCount(&devices) == gpuSuccess && devices > 1 ? 1 : 0;
}

} // namespace

Knobs knobs;
Counts counts;
const BackendTraits backend = {
    .name = ucd::UCD_GPU::vendor_name, .remembers = true, .second_device = second_device()};

void reset() {}
void let_go() {}

void *allocate(ucd::MemoryKind kind, int device, std::size_t bytes) {
    void *address = nullptr;
    bytes = bytes == 0 ? 1 : bytes;
    device = device == 0 ? 0 : backend.second_device;
    check(gpuSetDevice(device), "choosing a device");
    switch (kind) {
    case ucd::MemoryKind::host: return nullptr;
    case ucd::MemoryKind::pinned:
        check(gpuHostAlloc(&address, bytes, gpuHostAllocPortable), "pinned memory");
        break;
    case ucd::MemoryKind::managed:
        check(gpuMallocManaged(&address, bytes), "managed memory");
        break;
    case ucd::MemoryKind::device: check(gpuMalloc(&address, bytes), "device memory"); break;
    }
    const std::lock_guard lock(mutex);
    memories[address] = {kind, device};
    return address;
}

void release(void *address) {
    use_device_of(address);
    ucd::MemoryKind kind;
    {
        const std::lock_guard lock(mutex);
        kind = memories.at(address).kind;
        memories.erase(address);
    }
    check(kind == ucd::MemoryKind::pinned ? gpuHostFree(address) : gpuFree(address),
          "freeing memory");
}

void write(void *address, const void *from, std::size_t bytes) {
    if (bytes == 0) return;
    use_device_of(address);
    check(gpuMemcpy(address, from, bytes, gpuMemcpyDefault), "writing");
    // From pageable memory, that returns before the data has arrived.
    check(gpuStreamSynchronize(nullptr), "writing");
}

void read(void *to, const void *address, std::size_t bytes) {
    if (bytes == 0) return;
    use_device_of(address);
    check(gpuMemcpy(to, address, bytes, gpuMemcpyDefault), "reading");
}

} // namespace mock
