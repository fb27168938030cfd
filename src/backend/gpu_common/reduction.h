// From a reducing job to a kernel.
#pragma once

#include "reduce.h"
#include "reduce_kernels.h"
#include "work.h"

namespace ucd::UCD_GPU {

// What a kernel is to know of a job.
struct ReductionNumbers {
    const ReduceKernel *own; // of the elements' kind; null: the one for any elements
    ReduceParams elements;   // its numbers
    ReduceAnyParams any;     // the other's

    uint64_t threads() const { return own != nullptr ? elements.nest.vectors : any.vectors; }
};

// The work is in words of the plan's.
Status describe_reduction(Work &work, ReductionNumbers &numbers);

// Puts it into its stream.
Status launch_reduction(Work &work);

// Everything that the first launch of such a job would do, whatever buffers and range.
Status prepare_reduction(Device &device, const Job &job);

} // namespace ucd::UCD_GPU
