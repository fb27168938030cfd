// Launches the kernels for conversions of elements.
#pragma once

#include "launch/launch_target.h"
#include "move.h"

#include <span>

namespace ucd::UCD_GPU {

// Whether a kernel can do it: if both sides are strided, in levels that fit into each other, or if
// both are nests and the pair of elements has a kernel for these.
bool can_convert(const Move &move);

// Strided ones are a launch each. Others are launched together, those of a pair of elements as one.
Status launch_conversions(LaunchTarget &to, std::span<const Move> moves);

// Loads the kernels for conversions to and from an element. Kernels cannot be loaded while a stream
// is captured.
Status prepare_conversions();

} // namespace ucd::UCD_GPU
