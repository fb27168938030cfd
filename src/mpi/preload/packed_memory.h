// Memory for packed messages. Blocks are kept for later messages, since fresh pages of the system
// cost more than packing into them.
#pragma once

#include <cstddef>
#include <utility>

namespace ucd_mpi {

class PackedMemory {
public:
    PackedMemory() = default;
    // data() is null if there is no memory.
    explicit PackedMemory(std::size_t bytes);
    PackedMemory(PackedMemory &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_class_(other.size_class_) {}
    PackedMemory &operator=(PackedMemory &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_class_, other.size_class_);
        return *this;
    }
    ~PackedMemory();

    void *data() const { return data_; }

private:
    void *data_ = nullptr;
    int size_class_ = 0;
};

} // namespace ucd_mpi
