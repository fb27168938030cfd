// The parameters of kernels that go through the streams of two nests side by side.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/launch_context.h"
#include "launch/submission.h"
#include "move.h"
#include "params/copy.h"

#include <cstdint>

namespace ucd::UCD_GPU {

// One side of a copy, the source or the target.
struct PlannedSide {
    const Side &side;

    const GpuPlan &gpu_plan() const { return plan_of(side); }
    const LayoutPlan &plan() const { return gpu_plan().host; }
    uintptr_t typed() const { return origin_of(plan(), side.address); }
    Node top() const {
        return repeat(plan().layout.top(), plan().layout.root, side.count, plan().extent);
    }
};

// A range of both streams: where it begins in each, and its length in bytes of the source's.
struct CopyRange {
    uint64_t from, to, length;
};

// The bytes of a unit on either side: the words of a copy, or the elements of a conversion.
struct CopyUnits {
    uint32_t from, to;
};

// Whether positions in the range fit the kernels that find places in nests.
bool fits_places(const PlannedSide &side, Slice range, uint32_t unit);

// Sets everything but the numbers of words and tiles. A word is one unit.
Status describe_rows(const Submission &submission, const PlannedSide &from, const PlannedSide &to,
                     const CopyRange &range, const CopyUnits &units, CopyPlacesParams &params);

} // namespace ucd::UCD_GPU
