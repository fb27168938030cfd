// From a move to a kernel: the alignment of its buffers, its range, a grid.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/submission.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Puts the move into the stream of the submission. For a graph, its plan has been prepared.
Status launch_move(const Submission &to, const Move &move);

// Loads and uploads everything that any launch_move() without an op, of up to so many repetitions,
// would load or upload first.
Status prepare_plan(Device &device, const GpuPlan &plan, uint64_t count);

} // namespace ucd::UCD_GPU
