// From a copy between layouts to a kernel.
#pragma once

#include "job.h"
#include "launch/submission.h"

namespace ucd::UCD_GPU {

// Like launch_job().
Status launch_copy(const Submission &to, const CopyJob &job);

} // namespace ucd::UCD_GPU
