// The runtime's memory.
#include "support/host_vendor/capture.h"
#include "support/host_vendor/state.h"
#include "vendor.h"

#include "memory.h"
#include "support/fake_device/fake_driver.h"
#include "support/spared_allocations.hpp"

using namespace ucd::hostgpu;

std::atomic<bool> ucd::hostgpu::is_memory_full{false};

bool ucd::hostgpu::is_pageable(const void *address) {
    mock::Allocation a;
    return !mock::find(address, a);
}

bool ucd::hostgpu::is_in_several_allocations(const void *address, std::size_t bytes) {
    mock::Allocation a;
    return mock::find(address, a) &&
           static_cast<const char *>(address) + bytes > a.address + a.bytes;
}

namespace {

gpuError_t allocate(void **memory, ucd::MemoryKind kind, std::size_t bytes) {
    const ucdtest::SpareAllocations spared;
    const bool refused = is_failing_one(mock::knobs.failing_allocation) ||
                         mock::knobs.out_of_memory || is_memory_full || is_refused();
    *memory = refused ? nullptr : mock::allocate(kind, current_device, bytes);
    if (*memory == nullptr) return gpuErrorMemoryAllocation;
    ++mock::counts.allocations;
    ++mock::counts.live_allocations;
    return gpuSuccess;
}

gpuError_t release(void *memory) {
    mock::release(memory);
    --mock::counts.live_allocations;
    is_memory_full = false;
    return is_refused() ? gpuErrorRefused : gpuSuccess;
}

} // namespace

gpuError_t gpuMalloc(void **memory, std::size_t bytes) {
    return allocate(memory, ucd::MemoryKind::device, bytes);
}

gpuError_t gpuFree(void *memory) {
    ++ucd::hostgpu::freed_memories;
    return release(memory);
}

gpuError_t gpuHostAlloc(void **memory, std::size_t bytes, unsigned) {
    return allocate(memory, ucd::MemoryKind::pinned, bytes);
}

gpuError_t gpuHostFree(void *memory) {
    return release(memory);
}
