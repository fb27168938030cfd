// From a job to a kernel: the alignment of its buffers, its range, a grid.
#pragma once

#include "job.h"
#include "launch/gpu_plan.h"
#include "launch/submission.h"

namespace ucd::UCD_GPU {

// Puts the job into the stream of the submission.
Status launch_job(const Submission &to, const Job &job);

// Loads and uploads everything that any launch_job() without an op, of up to so many repetitions,
// would load or upload first.
Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count);

} // namespace ucd::UCD_GPU
