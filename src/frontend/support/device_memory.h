// Memory of devices that users have by ucd_memory_alloc, and that of other processes which they
// have by ucd_ipc_open and ucd_ipc_open_fds: what is needed to end it. And memory for the steps of
// work in streams.
#pragma once

#include "backend.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <unordered_map>

namespace ucd {

class DeviceMemory {
public:
    ~DeviceMemory(); // ends all that is left

    Status allocate(Backend &backend, int device, MemoryKind kind, std::size_t bytes,
                    void *&address);
    // Keeps what the backend has allocated. If that fails, the memory is released.
    Status adopt(Backend &backend, int device, MemoryKind kind, void *address);
    Status release(void *address); // null is released already

    // Memory of a device for work in streams. When the work is done, it is given back for the next
    // such work, and not to the driver, which would wait for the device.
    struct Block {
        Backend *backend;
        int device;
        std::size_t bytes;
        void *address;
    };
    Status take(Backend &backend, int device, std::size_t bytes, Block &block);
    void give_back(Block block);
    // Returns to the drivers what is unused. Returns whether there was any.
    bool release_spare();

    // `bytes` behind the handle's offset; `address` is where that is.
    Status open(Backend &backend, int device, const MemoryHandle &handle, std::size_t bytes,
                void *&address);
    Status open(Backend &backend, int device, const FdHandle &handle, std::size_t bytes,
                std::span<const int> fds, void *&address);
    // Memory of this process, which needs no opening, is closed all the same.
    Status open_own(void *address);
    Status close(void *address);

private:
    struct Allocation {
        Backend *backend;
        int device;
        MemoryKind kind;
    };
    struct Opened {
        Backend *backend; // null: it is this process's own
        int device;
        void *allocation;
    };
    static void end(const Opened &opened);
    Status try_to_allocate(Backend &backend, int device, MemoryKind kind, std::size_t bytes,
                           void *&address);
    // open_memory(allocation) opens.
    template <class Open>
    Status open_by(Backend &backend, int device, uint64_t offset, void *&address,
                   const Open &open_memory);

    static constexpr std::size_t max_spare = 8;

    std::mutex mutex_;
    std::unordered_map<void *, Allocation> allocations_;
    std::array<Block, max_spare> spare_;
    std::size_t spare_count_ = 0;
    std::unordered_multimap<void *, Opened> opened_;
};

} // namespace ucd
