// From a reducing move to a kernel.
#pragma once

#include "kernels/reduce_kernels.h"
#include "launch/launch_context.h"
#include "params/reduce.h"

namespace ucd::UCD_GPU {

// The parameters of a kernel for a move.
struct ReductionNumbers {
    const ReduceKernel *own; // for elements of this kind; null: the kernel for any elements
    ReduceParams elements;   // its parameters
    ReduceAnyParams any;     // those of the other

    uint64_t threads() const { return own != nullptr ? elements.nest.vectors : any.vectors; }
};

Status describe_reduction(const LaunchContext &launch, ReductionNumbers &numbers);

// Puts it into its stream.
Status launch_reduction(const LaunchContext &launch);

// Loads and uploads everything that any launch of such a move would load or upload first.
Status prepare_reduction(Device &device, const Move &move);

} // namespace ucd::UCD_GPU
