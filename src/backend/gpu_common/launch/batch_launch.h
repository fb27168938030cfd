// Several jobs in one go.
#pragma once

#include "job.h"
#include "launch/submission.h"

namespace ucd::UCD_GPU {

// Like launch_job(), but the jobs of one direction are one launch, as far as one kernel can move
// them.
Status launch_jobs(const Submission &to, const JobList &list);

// Loads the kernels, so that launches can be captured.
Status prepare_batches();

} // namespace ucd::UCD_GPU
