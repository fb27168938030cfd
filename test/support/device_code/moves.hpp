// Calls the functions of ucd_device.h in a kernel of the device under test: a GPU's, or threads of
// the CPU in its place.
#pragma once

#include <ucd_device.h>

#include <cstdint>

namespace ucdtest {

enum class DeviceCall : std::uint32_t { pack, unpack, copy, locate };
// The groups of threads; with tiles, a block or a grid lends shared memory.
enum class DeviceGroup : std::uint32_t { thread, warp, block, grid, block_tiles, grid_tiles };
inline constexpr DeviceGroup all_groups[] = {DeviceGroup::thread,      DeviceGroup::warp,
                                             DeviceGroup::block,       DeviceGroup::grid,
                                             DeviceGroup::block_tiles, DeviceGroup::grid_tiles};

struct KernelCall {
    ucd_device_plan_t from, to; // `to` for copies only
    DeviceCall call;
    DeviceGroup group;
    std::uint32_t threads, blocks; // of the launch; only a grid uses more than one block
    const void *in;
    void *out; // locate: where the displacement and the number of bytes go
    std::uint64_t offset, bytes;
    std::uint32_t shape; // that the kernel knows of both plans (known_shapes.h); 0: none
};

// The shapes that kernels know have the numbers from 1 to this.
std::uint32_t count_of_shapes();
// The width of words of a shape if the plan has it, else 0.
std::uint32_t word_of_shape(std::uint32_t shape, const ucd_device_plan_t &plan);

// Runs the kernel and waits for it. Throws if it fails.
void run_on_device(const KernelCall &move);

} // namespace ucdtest
