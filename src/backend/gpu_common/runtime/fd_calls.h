// What a driver does for memory that processes share by file descriptors: physical memory, of which
// several pieces are mapped one behind the other into a range of addresses, and memory of pools.
// Declared here, defined in the folder of each vendor for which the build sets UCD_SHARES_BY_FDS.
// The calling thread must have made the device current.
#pragma once

#include "backend.h"
#include "vendor.h"

#include <span>

namespace ucd::UCD_GPU {

#if defined(UCD_SHARES_BY_FDS)
inline constexpr bool shares_by_fds = true;
#else
inline constexpr bool shares_by_fds = false;
#endif

namespace driver {

// How the driver shares the memory of an address.
enum class SharedBy : uint8_t { handle, pieces, pool };
Status find_sharing(const MemoryLocation &location, const void *address, SharedBy &by);

// A piece of physical memory where it is mapped.
struct MappedPiece {
    uintptr_t begin = 0;
    std::size_t bytes = 0;
    uint64_t identity = 0; // differs once other memory is mapped there
};

// INVALID_ARG if nothing is mapped at the address; NOT_SUPPORTED if the memory was made without the
// right to be exported.
Status find_piece(const void *address, MappedPiece &piece);

// Makes a descriptor of the piece at the address. The caller closes it.
Status export_piece(const void *address, int &fd);

// Maps the pieces one behind the other, for reads and writes by `device`. Both arguments come from
// another process: fails unless each descriptor is that of memory of a device, and has at least the
// bytes that are mapped. The mapping holds the memory.
Status map_pieces(int device, std::span<const int> fds, std::span<const std::size_t> sizes,
                  void *&address);
void unmap_pieces(void *address, std::span<const std::size_t> sizes);

// What identifies an allocation within its pool in another process.
struct PoolHandle {
    unsigned char native[64] = {};
};

// An allocation of a pool of another process.
struct PoolMemory {
    void *address = nullptr;
    std::size_t bytes = 0;
    void *pool = nullptr;
};

// NOT_SUPPORTED if the pool was made without the right to be exported. `allocation` is its first
// byte.
Status export_from_pool(const void *allocation, PoolHandle &handle, uint64_t &identity);
// Makes a descriptor of the pool of an allocation. The caller closes it.
Status export_pool(const void *allocation, int &fd);
Status open_from_pool(int device, int fd, const PoolHandle &handle, PoolMemory &memory);
void close_from_pool(const PoolMemory &memory);

} // namespace driver
} // namespace ucd::UCD_GPU
