// From a reducing job to a kernel.
#pragma once

#include "work.h"

namespace ucd::UCD_GPU {

// Puts the work, which is in words of the plan's, into its stream.
Status launch_reduction(Work &work);

// Everything that the first launch of such a job would do, whatever buffers and range.
Status prepare_reduction(Device &device, const Job &job);

} // namespace ucd::UCD_GPU
