// The data of a move that is being launched, and functions that all kinds of launches share.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/submission.h"
#include "plan/move_range.h"
#include "runtime/check.h"
#include "tuning.h"

namespace ucd::UCD_GPU {

// The address of the layout's origin.
inline uintptr_t origin_of(const LayoutPlan &plan, const char *typed) {
    return reinterpret_cast<uintptr_t>(typed) + static_cast<uintptr_t>(plan.layout.start);
}

inline const GpuPlan &plan_of(const Side &side) {
    return static_cast<const GpuPlan &>(*side.plan);
}

// A side of a move that is a layout.
struct PlannedSide {
    const Side &side;

    const GpuPlan &gpu_plan() const { return plan_of(side); }
    const LayoutPlan &plan() const { return gpu_plan().host; }
    uintptr_t typed() const { return origin_of(plan(), side.address); }
    Node top() const {
        return repeat(plan().layout.top(), plan().layout.root, side.count, plan().extent);
    }
};

// Of a pack or an unpack; the side is the typed one.
struct LaunchContext : PlannedSide {
    const Submission &to;
    const Move &move;
    uint32_t word; // divides all sizes, strides and addresses

    LaunchContext(const Submission &submission, const Move &launched)
        : PlannedSide{launched.typed()}, to(submission), move(launched),
          word(common_alignment(plan().word | typed() | stream_base())) {}

    uintptr_t packed() const { return reinterpret_cast<uintptr_t>(move.packed().first()); }
    // The address of stream byte 0, which may be outside of the buffer.
    uintptr_t stream_base() const { return packed() - side.offset; }

    // Sets the vectors of the packed side.
    template <class Params>
    void put_vectors(Params &params) const {
        const Vectors vectors(packed(), move.length);
        params.packed = vectors.start;
        params.vectors = static_cast<decltype(params.vectors)>(vectors.count);
        params.head = vectors.head;
        params.tail = vectors.tail;
    }
};

// The plan's lists on the device, valid for work that follows in the stream; 0 if it has none.
Status use_lists(const Submission &to, const GpuPlan &plan, uint64_t &address);

// Fills in a nest's parameters, except how tiles are divided among blocks.
Status describe_nest(const LaunchContext &launch, NestParams &params, LevelKind *kinds);

// Prepares a layout for the interpreter, except its address.
Status use_interpreter(const Submission &to, Interpreter &interpreter, InterpretedLayout &layout);

inline bool touches_host_memory(const Move &move) {
    return move.from_kind == MemoryKind::pinned || move.to_kind == MemoryKind::pinned;
}

// The limit on a kernel's blocks. A move in host memory waits for the bus, which a few blocks on
// each processor saturate; more would only occupy the device. Reductions may be limited by
// arithmetic, and get as many blocks as there is work for.
inline uint32_t max_blocks(const Device &device, const Move &move) {
    const bool waits_for_bus = touches_host_memory(move) && move.op == Op::replace;
    if (move.limits.max_blocks > 0 || !waits_for_bus) return move.limits.max_blocks;
    return tuning.host_blocks * device.processors();
}

// Loads a kernel before its first launch.
inline Status load_kernel(const void *kernel) {
    gpuFuncAttributes attributes;
    return check(gpuFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

// `tiles` is the number of units that the kernel divides among its blocks.
template <class Params>
Status launch_kernel(const Submission &to, const void *kernel, uint64_t tiles, uint32_t max_blocks,
                     Params &params) {
    static_assert(sizeof(Params) <= tuning.parameter_bytes);
    // as the memory of a launch step is aligned
    static_assert(alignof(Params) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    const uint32_t blocks = grid_for(tiles, max_blocks);
    if (to.prepared == nullptr) return run_kernel(to.stream, kernel, blocks, &params);
    UCD_TRY(load_kernel(kernel));
    const auto *bytes = reinterpret_cast<const char *>(&params);
    to.prepared->add(KernelStep{kernel, blocks, {bytes, bytes + sizeof params}});
    return success;
}

} // namespace ucd::UCD_GPU
