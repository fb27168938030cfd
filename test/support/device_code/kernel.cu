#include "support/device_code/moves.hpp"

#include "support/device_code/known_shapes.h"

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

// The same for plans of a shape that is known.
template <unsigned word, dev::Level... levels>
__global__ void pack_known(const __grid_constant__ KernelCall c) {
    const SomeThreads group = threads_of(c.group);
    if (group.rank < group.count)
        dev::pack(group, dev::known<word, levels...>(c.from), c.in, c.offset, c.bytes, c.out);
}
template <unsigned word, dev::Level... levels>
__global__ void unpack_known(const __grid_constant__ KernelCall c) {
    const SomeThreads group = threads_of(c.group);
    if (group.rank < group.count)
        dev::unpack(group, dev::known<word, levels...>(c.from), c.in, c.out, c.offset, c.bytes);
}
template <unsigned word, dev::Level... levels>
__global__ void copy_known(const __grid_constant__ KernelCall c) {
    const SomeThreads group = threads_of(c.group);
    if (group.rank < group.count)
        dev::copy(group, dev::known<word, levels...>(c.from), c.in,
                  dev::known<word, levels...>(c.to), c.out, c.offset, c.bytes);
}
// By a block or by the grid.
template <unsigned word, dev::Level... levels>
__global__ void move_known_in_tiles(const __grid_constant__ KernelCall c) {
    __shared__ uint4 memory[dev::max_scratch_bytes / sizeof(uint4)];
    const auto known = dev::known<word, levels...>(c.from);
    const dev::Scratch scratch = {memory, sizeof memory};
    if (c.call == DeviceCall::pack)
        dev::pack(dev::this_grid(), known, c.in, c.offset, c.bytes, c.out, scratch);
    else
        dev::unpack(dev::this_grid(), known, c.in, c.out, c.offset, c.bytes, scratch);
}

using Kernel = void (*)(KernelCall);
struct KnownKernel {
    DeviceCall call;
    bool tiles;
    Kernel &kernel;
    template <unsigned word, dev::Level... levels>
    void visit() const {
        if (call == DeviceCall::copy)
            kernel = copy_known<word, levels...>;
        else if (tiles)
            kernel = move_known_in_tiles<word, levels...>;
        else
            kernel = call == DeviceCall::pack ? pack_known<word, levels...>
                                              : unpack_known<word, levels...>;
    }
};

Kernel kernel_for(DeviceCall call, DeviceGroup group, std::uint32_t shape) {
    const bool grid = group == DeviceGroup::grid_tiles;
    const bool tiles = grid || group == DeviceGroup::block_tiles;
    if (shape != 0) {
        Kernel kernel = nullptr;
        visit_shape(shape, KnownKernel{call, tiles, kernel});
        return kernel;
    }
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

std::uint32_t count_of_shapes() {
    return KnownShapes::count;
}
std::uint32_t word_of_shape(std::uint32_t shape, const ucd_device_plan_t &plan) {
    return word_of_fitting(shape, plan);
}

void run_on_device(const KernelCall &move) {
    const bool grid = move.group == DeviceGroup::grid || move.group == DeviceGroup::grid_tiles;
    kernel_for(move.call, move.group, move.shape)<<<grid ? move.blocks : 1, move.threads>>>(move);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

} // namespace ucdtest
