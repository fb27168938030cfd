// From a copy between layouts to a kernel.
#pragma once

#include "launch/submission.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Like launch_move().
Status launch_copy(const Submission &to, const CopyMove &move);

} // namespace ucd::UCD_GPU
