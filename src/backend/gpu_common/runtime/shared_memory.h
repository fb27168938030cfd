// Device memory that several processes use. The calling thread must have made the device current.
#pragma once

#include "backend.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// Fails with this code unless so many bytes from the offset on are in the allocation.
Status check_range(int code, std::size_t size, uint64_t offset, std::size_t bytes);

Status export_memory(const void *address, std::size_t bytes, MemoryHandle &handle);
Status open_memory(const MemoryHandle &handle, std::size_t bytes, void *&allocation);

} // namespace ucd::UCD_GPU
