// From copies between layouts to kernels.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/submission.h"
#include "move.h"

#include <span>

namespace ucd::UCD_GPU {

// Several are a launch for each kernel that they need.
Status launch_copies(const Submission &to, std::span<const CopyMove> copies);

// Loads the kernels that copies from or to such a layout may need, if they can be captured: a graph
// cannot load them on the way.
Status prepare_copies(const GpuPlan &plan);

} // namespace ucd::UCD_GPU
