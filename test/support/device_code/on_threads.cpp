#define UCD_DEVICE_CODE_VENDOR "support/device_code/on_threads.h"
#include "support/device_code/moves.hpp"

#include "support/device_code/known_shapes.h"

#include <stdexcept>

namespace ucdtest {
namespace {

namespace dev = ucd::device;

struct ThreadGroup {
    std::uint64_t count;
    std::uint64_t size() const { return count; }
    void sync() const {}
};

ThreadGroup group_of(const KernelCall &move) {
    switch (move.group) {
    case DeviceGroup::thread: return {1};
    case DeviceGroup::warp: return {32};
    case DeviceGroup::block:
    case DeviceGroup::block_tiles: return {move.threads};
    default: return {std::uint64_t{move.threads} * move.blocks};
    }
}

// Moves by plans of a shape that is known.
struct KnownCall {
    const KernelCall &move;
    ThreadGroup group;
    dev::Scratch scratch;
    template <unsigned word, dev::Level... levels>
    void visit() const {
        const auto from = dev::known<word, levels...>(move.from);
        switch (move.call) {
        case DeviceCall::pack:
            return dev::pack(group, from, move.in, move.offset, move.bytes, move.out, scratch);
        case DeviceCall::unpack:
            return dev::unpack(group, from, move.in, move.out, move.offset, move.bytes, scratch);
        case DeviceCall::copy:
            return dev::copy(group, from, move.in, dev::known<word, levels...>(move.to), move.out,
                             move.offset, move.bytes);
        case DeviceCall::locate: break;
        }
    }
};

void run(const void *params) {
    const auto &move = *static_cast<const KernelCall *>(params);
    const ThreadGroup group = group_of(move);
    alignas(16) static thread_local unsigned char memory[dev::max_scratch_bytes];
    const bool tiles = move.group == DeviceGroup::block_tiles;
    const dev::Scratch scratch{tiles ? memory : nullptr, tiles ? dev::max_scratch_bytes : 0};
    if (move.shape != 0) return visit_shape(move.shape, KnownCall{move, group, scratch});
    switch (move.call) {
    case DeviceCall::pack:
        return dev::pack(group, move.from, move.in, move.offset, move.bytes, move.out, scratch);
    case DeviceCall::unpack:
        return dev::unpack(group, move.from, move.in, move.out, move.offset, move.bytes, scratch);
    case DeviceCall::copy:
        return dev::copy(group, move.from, move.in, move.to, move.out, move.offset, move.bytes);
    case DeviceCall::locate: {
        std::uint64_t bytes = 0;
        const auto out = reinterpret_cast<std::uintptr_t>(move.out);
        ucd::hostgpu::store(out, dev::locate(move.from, move.offset, &bytes));
        ucd::hostgpu::store(out + 8, bytes);
    }
    }
}

const ucd::hostgpu::Kernel kernel = {"device_code", run, sizeof(KernelCall)};

void check(gpuError_t error) {
    if (error != gpuSuccess) throw std::runtime_error(gpuGetErrorString(error));
}

} // namespace

std::uint32_t count_of_shapes() {
    return KnownShapes::count;
}
std::uint32_t word_of_shape(std::uint32_t shape, const ucd_device_plan_t &plan) {
    return word_of_fitting(shape, plan);
}

void run_on_device(const KernelCall &move) {
    gpuStream_t stream;
    check(gpuStreamCreateWithPriority(&stream, gpuStreamNonBlocking, 0));
    KernelCall copy = move;
    void *arguments[] = {&copy};
    check(gpuLaunchKernel(&kernel, ucd::hostgpu::dim3(1), ucd::hostgpu::dim3(256), arguments, 0,
                          stream));
    check(gpuStreamSynchronize(stream));
    check(gpuStreamDestroy(stream));
}

} // namespace ucdtest
