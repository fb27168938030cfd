// Launches a kernel for a move, according to its alignment, range and size.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/launch_target.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Launches a move that is no copy or conversion. For a graph, its plan must have been prepared.
Status launch_move(LaunchTarget &to, const Move &move);

// Loads and uploads everything that launch_move() may need for any move without an op, up to this
// count.
Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count);

} // namespace ucd::UCD_GPU
