// Launches the kernels for copies between layouts.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/launch_target.h"
#include "move.h"

#include <span>

namespace ucd::UCD_GPU {

// Launches the copies. Several copies take one launch for each kernel that they need.
Status launch_copies(LaunchTarget &to, std::span<const Move> copies);

// Loads the kernels that copies from or to such a layout may need, if the vendor's streams can be
// captured: kernels cannot be loaded during a capture.
Status prepare_copies(const GpuPlan &plan);

} // namespace ucd::UCD_GPU
