// Where a launch puts its work: kernels, copies by engines, uploads.
#pragma once

#include "plan/move_range.h"
#include "runtime/batch_tables.h"
#include "runtime/device_lists.h"
#include "runtime/plain_copy.h"
#include "tuning.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace ucd::UCD_GPU {

// The work of a prepared launch, which is put into streams repeatedly.
struct KernelStep {
    const void *kernel;
    uint32_t blocks;
    std::vector<char> params;
};

// Rows, or planes of rows, within the limits of pitched_copies.h on both sides.
struct PitchedSide {
    char *first; // row
    int64_t row_stride, plane_stride = 0;
};
struct PitchedStep {
    PitchedSide from, to;
    uint64_t row; // in bytes
    uint64_t rows, planes = 1;
};

using PlainStep = std::vector<PlainCopy>; // in no particular order

// Starts nothing, but keeps a table for a kernel.
using TableStep = std::shared_ptr<const void>;

using LaunchStep = std::variant<KernelStep, PitchedStep, PlainStep, TableStep>;

// What a launch needs until its work is done.
struct LaunchNeeds {
    std::vector<ListUse> lists;
    std::vector<BatchUse> batches;
    std::vector<LaunchStep> steps; // of a prepared launch, in their order

    // Adds what a part of the launch needs.
    void add(LaunchNeeds &&part);
};

// Loads kernels before their first launch; null stands for none.
Status load_kernels(std::initializer_list<const void *> kernels);

// The device must be current, except in use(). Threads that work for one launch have targets, and
// needs, of their own.
class LaunchTarget {
public:
    LaunchTarget(Device &device, gpuStream_t stream, LaunchState state, LaunchNeeds &needs)
        : device_(device), stream_(stream), needs_(needs), state_(state) {}

    Device &device() const { return device_; }
    gpuStream_t stream() const { return stream_; }
    LaunchState state() const { return state_; }
    bool is_captured() const { return state_ == LaunchState::captured; }
    bool is_recorded() const { return state_ == LaunchState::recorded; }
    // Whether the work is done once, and so a table is read once.
    bool is_single() const { return !is_captured() && !is_recorded(); }
    LaunchNeeds &needs() const { return needs_; }

    // All launches take lists into use by this function. The work that follows finds them at
    // `address`, as long as the needs live.
    Status use(DeviceLists &lists, uint64_t &address) const;

    // Uploads the first bytes of the table's pinned memory, for the work that follows.
    Status upload(BatchUse table, std::size_t bytes, uint64_t &address);

    // `tiles` is the number of units that the kernel divides among its blocks.
    template <class Params>
    Status launch(const void *kernel, uint64_t tiles, uint32_t max_blocks, Params &params) {
        static_assert(sizeof(Params) <= tuning.parameter_bytes);
        // as the memory of a step is aligned
        static_assert(alignof(Params) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return launch(kernel, gpu::grid_for(tiles, max_blocks), &params, sizeof params);
    }
    Status copy(const PlainCopy &copy);
    Status copy(std::span<const PlainCopy> copies);
    Status copy(const PitchedStep &step);
    Status run(std::span<const LaunchStep> steps);

private:
    Status launch(const void *kernel, uint32_t blocks, void *params, std::size_t bytes);
    Status record(const void *kernel, uint32_t blocks, const void *params, std::size_t bytes);
    void begin() {
        if (state_ == LaunchState::empty) state_ = LaunchState::started;
    }

    Device &device_;
    const gpuStream_t stream_;
    LaunchNeeds &needs_;
    LaunchState state_;
};

} // namespace ucd::UCD_GPU
