// Which memory an address belongs to.
#pragma once

#include <cstdint>

namespace ucd {

class Backend;

enum class MemoryKind : uint8_t {
    host,    // pageable host memory
    pinned,  // host memory that devices can access directly
    managed, // migrates between host and devices
    device,
};

struct MemoryLocation {
    MemoryKind kind = MemoryKind::host;
    int32_t device = 0;
    const Backend *owner = nullptr; // the backend whose driver knows the memory; null for pageable
                                    // host memory
    // A range of addresses for which all members are valid, if the driver tells one; otherwise
    // begin == end.
    uintptr_t begin = 0, end = 0;
    // For device memory whose access rights do not follow from peer access between devices, but are
    // its own (memory of pools, and mapped ranges).
    bool own_access = false;
    bool host_reachable() const { return kind != MemoryKind::device; }
    bool holds(const void *address) const {
        const auto position = reinterpret_cast<uintptr_t>(address);
        return begin <= position && position < end;
    }
};

} // namespace ucd
