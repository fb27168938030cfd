// Where one side of a transfer has its data: host memory, or a CUDA device's. The driver is loaded
// at run time, so the program needs no CUDA to be built.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bench {

// Rows of one length at a regular distance.
struct Rows {
    std::size_t bytes, count, pitch;
};

class Memory {
public:
    // "host" or "cuda:N"; throws std::runtime_error that says why it is not to be had.
    static std::unique_ptr<Memory> open(const std::string &name);
    virtual ~Memory() = default;

    virtual bool on_device() const = 0;
    // For laid-out data; and for what UCX sends and receives: host memory, for a device's sake
    // pinned.
    virtual char *allocate(std::size_t bytes) = 0;
    virtual char *allocate_staging(std::size_t bytes) = 0;
    virtual void free(char *memory) = 0;
    virtual void free_staging(char *memory) = 0;
    // Between this memory and the host's.
    virtual void write(char *to, const char *from, std::size_t bytes) = 0;
    virtual void read(char *to, const char *from, std::size_t bytes) = 0;
    // Between rows in this memory and contiguous host memory, by the driver's 2-D copy.
    virtual void pack_rows(char *to, const char *rows, const Rows &shape) = 0;
    virtual void unpack_rows(char *rows, const char *from, const Rows &shape) = 0;
};

} // namespace bench
