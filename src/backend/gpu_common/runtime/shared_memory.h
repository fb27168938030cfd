// Device memory that several processes use. The calling thread must have made the device current.
#pragma once

#include "backend.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

Status export_memory(const void *address, std::size_t bytes, MemoryHandle &handle);
Status open_memory(const MemoryHandle &handle, std::size_t bytes, void *&allocation);

} // namespace ucd::UCD_GPU
