// Chunk memory for one device: pinned host memory, and memory of the device that other processes
// can open.
#pragma once

#include "memory/staging.h"

#include <string>
#include <ucd_memory.h>
#include <unordered_map>

namespace ucd_ucx {

class DeviceChunks {
public:
    // Each of the two kinds has its own limit.
    DeviceChunks(const std::string &device, uint64_t pinned_limit, uint64_t ring_limit);
    DeviceChunks(const DeviceChunks &) = delete;
    DeviceChunks &operator=(const DeviceChunks &) = delete;

    // The device memory that a shared block of this size takes.
    static uint64_t bytes_of_shared(uint64_t bytes);
    // Takes a block that other processes can open; for `urgent` see Staging::take.
    StagingBlock take_shared(uint64_t bytes, bool urgent);
    // The handle with which other processes open the block.
    const ucd_ipc_handle_t &handle_of(const StagingBlock &block) const {
        return handles_.at(block.memory());
    }
    // False once the driver has refused to share memory.
    bool is_shared() const { return shared_; }

private:
    void *allocate(int kind, std::size_t bytes) const;
    void *allocate_shared(std::size_t bytes);

    const std::string device_;
    bool shared_ = true;
    std::unordered_map<const void *, ucd_ipc_handle_t> handles_;

public:
    // Declared last, because they use the members above.
    Staging pinned;

private:
    Staging ring_;
};

} // namespace ucd_ucx
