// Several jobs in one go.
#pragma once

#include "batch_tables.h"
#include "device.h"
#include "job.h"

#include <span>
#include <vector>

namespace ucd::UCD_GPU {

// Like launch_job(), but the jobs of one direction are one launch, as far as one kernel can move
// them. `batches` are the tables that it needs until it is done.
Status launch_jobs(Device &device, gpuStream_t stream, const JobList &list, LaunchMode mode,
                   std::vector<TableUse> &uses, std::vector<BatchUse> &batches);

// Loads the kernels, so that launches can be captured.
Status prepare_batches();

} // namespace ucd::UCD_GPU
