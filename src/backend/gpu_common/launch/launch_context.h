// The data of a move that is being launched, and functions that all kinds of launches share.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/launch_target.h"
#include "plan/move_range.h"
#include "tuning.h"

namespace ucd::UCD_GPU {

// The address of the layout's origin.
inline uintptr_t origin_of(const LayoutPlan &plan, const char *typed) {
    return reinterpret_cast<uintptr_t>(typed) + static_cast<uintptr_t>(plan.layout.start);
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
    LaunchTarget &to;
    const Move &move;
    uint32_t word; // divides all sizes, strides and addresses

    LaunchContext(LaunchTarget &target, const Move &launched)
        : PlannedSide{launched.typed()}, to(target), move(launched),
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
Status use_lists(LaunchTarget &to, const GpuPlan &plan, uint64_t &address);

// Fills in a nest's parameters, except how tiles are divided among blocks.
Status describe_nest(const LaunchContext &launch, NestParams &params, LevelKind *kinds);

// Prepares a layout for the interpreter, except its address.
Status use_interpreter(const LaunchTarget &to, Interpreter &interpreter, InterpretedLayout &layout);

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

} // namespace ucd::UCD_GPU
