// Launches a kernel for a move with a reduction.
#pragma once

#include "kernels/reduce_kernels.h"
#include "launch/launch_context.h"
#include "params/reduce.h"

#include <span>

namespace ucd::UCD_GPU {

// Puts reductions into the stream, with one launch for each kernel that they need.
Status launch_reductions(LaunchTarget &to, std::span<const Move> moves);

// Loads and uploads everything that any launch of such a move may need.
Status prepare_reduction(Device &device, const Move &move);

} // namespace ucd::UCD_GPU
