// Which memory an address is in.
#pragma once

#include <cstdint>

namespace ucd {

class Backend;

enum class MemoryKind : uint8_t {
    host,    // pageable host memory
    pinned,  // host memory that devices reach directly
    managed, // migrates between host and devices
    device,
};

struct MemoryLocation {
    MemoryKind kind = MemoryKind::host;
    int32_t device = 0;
    const Backend *owner = nullptr; // whose driver knows the memory; null for pageable host memory
    // Addresses of which all this is true, if the driver tells; else equal.
    uintptr_t begin = 0, end = 0;
    // Of device memory: the access that devices have to each other's does not cover it. Who uses
    // it is a matter of this memory alone (of pools, and of mapped ranges).
    bool own_access = false;
    bool host_reachable() const { return kind != MemoryKind::device; }
    bool holds(const void *address) const {
        const auto position = reinterpret_cast<uintptr_t>(address);
        return begin <= position && position < end;
    }
};

} // namespace ucd
