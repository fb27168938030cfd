// Memory for chunks that goes with a device: pinned, and on the device itself, where other
// processes may open it.
#pragma once

#include "memory/staging.h"

#include <string>
#include <ucd_memory.h>
#include <unordered_map>

namespace ucd_ucx {

class DeviceChunks {
public:
    // Each of the two kinds has its limit.
    DeviceChunks(const std::string &device, uint64_t pinned_limit, uint64_t ring_limit);
    DeviceChunks(const DeviceChunks &) = delete;
    DeviceChunks &operator=(const DeviceChunks &) = delete;

    // What such a block takes of the device's memory.
    static uint64_t bytes_of_shared(uint64_t bytes);
    // A block that other processes may open, as Staging::take says.
    Block take_shared(uint64_t bytes, bool urgent);
    // By what they open it.
    const ucd_ipc_handle_t &handle_of(const Block &block) const {
        return handles_.at(block.memory());
    }
    // False once the driver has refused.
    bool is_shared() const { return shared_; }

private:
    static void *allocate_pinned(std::size_t bytes, void *chunks);
    static void *allocate_shared(std::size_t bytes, void *chunks);
    static void release_pinned(void *memory, std::size_t bytes, void *chunks);
    static void release_shared(void *memory, std::size_t bytes, void *chunks);

    const std::string device_;
    bool shared_ = true;
    std::unordered_map<const void *, ucd_ipc_handle_t> handles_;

public:
    // Use what is above.
    Staging pinned;

private:
    Staging ring_;
};

} // namespace ucd_ucx
