// Memory for packed messages, which MPI reads and writes. Freed blocks are kept for later messages,
// because faulting in fresh pages takes longer than packing into them.
#pragma once

#include "preload/device.h"

#include <cstddef>
#include <utility>

namespace ucd_mpi {

class PackedMemory {
public:
    PackedMemory() = default;
    // If `device` is not null, the memory is pinned if possible. data() is null if the allocation
    // fails, and for 0 bytes.
    explicit PackedMemory(std::size_t bytes, const NamedDevice *device = nullptr);
    PackedMemory(PackedMemory &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_class_(other.size_class_),
          pinned_for_(other.pinned_for_) {}
    PackedMemory &operator=(PackedMemory &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_class_, other.size_class_);
        std::swap(pinned_for_, other.pinned_for_);
        return *this;
    }
    ~PackedMemory();

    void *data() const { return data_; }

private:
    void *data_ = nullptr;
    int size_class_ = 0;
    const NamedDevice *pinned_for_ = nullptr;
};

} // namespace ucd_mpi
