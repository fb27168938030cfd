// Launches the kernels for conversions of elements.
#pragma once

#include "launch/submission.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Whether a kernel can do it: if both sides are strided, in levels that fit into each other.
bool can_convert(const CopyMove &move);

Status launch_conversion(const Submission &to, const CopyMove &move);

// Loads the kernels for conversions to and from an element. Kernels cannot be loaded while a stream
// is captured.
Status prepare_conversions();

} // namespace ucd::UCD_GPU
