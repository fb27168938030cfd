#include "support/device_code/moves.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace ucdtest {
namespace {

namespace dev = ucd::device;

// The threads of the launch that belong to the group, whatever group it is.
struct SomeThreads {
    std::uint64_t rank, count;
    __device__ std::uint64_t thread_rank() const { return rank; }
    __device__ std::uint64_t size() const { return count; }
};
__device__ SomeThreads threads_of(DeviceGroup group) {
    if (group == DeviceGroup::thread) return {dev::this_block().thread_rank(), 1};
    if (group == DeviceGroup::warp) return {dev::this_block().thread_rank(), 32};
    if (group == DeviceGroup::block)
        return {dev::this_block().thread_rank(), dev::this_block().size()};
    return {dev::this_grid().thread_rank(), dev::this_grid().size()};
}

// A kernel for each function, because one kernel with all of them would take the compiler minutes.
__global__ void pack(const __grid_constant__ KernelCall c) {
    const SomeThreads group = threads_of(c.group);
    if (group.rank < group.count) dev::pack(group, c.from, c.in, c.offset, c.bytes, c.out);
}
__global__ void unpack(const __grid_constant__ KernelCall c) {
    const SomeThreads group = threads_of(c.group);
    if (group.rank < group.count) dev::unpack(group, c.from, c.in, c.out, c.offset, c.bytes);
}
__global__ void copy(const __grid_constant__ KernelCall c) {
    const SomeThreads group = threads_of(c.group);
    if (group.rank < group.count) dev::copy(group, c.from, c.in, c.to, c.out, c.offset, c.bytes);
}
__global__ void locate(const __grid_constant__ KernelCall c) {
    if (dev::this_grid().thread_rank() != 0) return;
    auto *out = static_cast<std::uint64_t *>(c.out);
    out[0] = dev::locate(c.from, c.offset, out + 1);
}

template <class Group>
__global__ void pack_in_tiles(const __grid_constant__ KernelCall c) {
    __shared__ uint4 memory[dev::max_scratch_bytes / sizeof(uint4)];
    dev::pack(Group(), c.from, c.in, c.offset, c.bytes, c.out, {memory, sizeof memory});
}
template <class Group>
__global__ void unpack_in_tiles(const __grid_constant__ KernelCall c) {
    __shared__ uint4 memory[dev::max_scratch_bytes / sizeof(uint4)];
    dev::unpack(Group(), c.from, c.in, c.out, c.offset, c.bytes, {memory, sizeof memory});
}

using Kernel = void (*)(KernelCall);
Kernel kernel_for(DeviceCall call, DeviceGroup group) {
    const bool grid = group == DeviceGroup::grid_tiles;
    const bool tiles = grid || group == DeviceGroup::block_tiles;
    switch (call) {
    case DeviceCall::pack:
        return !tiles ? pack : grid ? pack_in_tiles<dev::Grid> : pack_in_tiles<dev::Block>;
    case DeviceCall::unpack:
        return !tiles ? unpack : grid ? unpack_in_tiles<dev::Grid> : unpack_in_tiles<dev::Block>;
    case DeviceCall::copy: return copy;
    case DeviceCall::locate: break;
    }
    return locate;
}

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

} // namespace

void run_on_device(const KernelCall &move) {
    const bool grid = move.group == DeviceGroup::grid || move.group == DeviceGroup::grid_tiles;
    kernel_for(move.call, move.group)<<<grid ? move.blocks : 1, move.threads>>>(move);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

} // namespace ucdtest
