// Memory for packed messages, which MPI reads and writes. Freed blocks are kept for later messages,
// because faulting in fresh pages, pinning them, and allocating on a device take longer than
// packing.
#pragma once

#include "preload/device.h"

#include <cstddef>
#include <utility>

namespace ucd_mpi {

class PackedMemory {
public:
    PackedMemory() = default;
    // In the memory of the route; pageable without one. If the device has no memory, it is pinned,
    // and else pageable. data() is null if that fails, too, and for 0 bytes.
    explicit PackedMemory(std::size_t bytes, DeviceRoute route = {});
    PackedMemory(PackedMemory &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_class_(other.size_class_),
          route_(other.route_) {}
    PackedMemory &operator=(PackedMemory &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_class_, other.size_class_);
        std::swap(route_, other.route_);
        return *this;
    }
    ~PackedMemory();

    void *data() const { return data_; }
    bool on_device() const { return data_ != nullptr && route_.stays_there; }

private:
    void *data_ = nullptr;
    int size_class_ = 0;
    DeviceRoute route_; // where it is; empty: pageable
};

} // namespace ucd_mpi
