// From a job to a kernel: the alignment of its buffers, its range, a grid.
#pragma once

#include "device.h"
#include "job.h"
#include "plan.h"
#include "tables.h"

#include <vector>

namespace ucd::UCD_GPU {

// Puts the job into the stream, which is the device's; the device is current. `uses` are the tables
// that it needs until it is done.
Status launch_job(Device &device, gpuStream_t stream, const Job &job, LaunchMode mode,
                  std::vector<TableUse> &uses);

// Everything that the first launch_job() without an op of so many repetitions would do, whatever
// buffers and range.
Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count);

} // namespace ucd::UCD_GPU
