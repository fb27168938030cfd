// Device memory that several processes use, and that file descriptors identify. The calling thread
// must have made the device current.
#pragma once

#include "backend.h"
#include "vendor.h"

#include <span>

namespace ucd::UCD_GPU {

// See Backend.
Status export_fds(const MemoryLocation &location, const void *address, std::size_t bytes,
                  FdHandle &handle, std::span<int> fds, std::size_t &count);
Status open_fds(int device, const FdHandle &handle, std::size_t bytes, std::span<const int> fds,
                void *&allocation);

// Returns whether open_fds() has opened it.
bool close_fds(void *allocation);

} // namespace ucd::UCD_GPU
