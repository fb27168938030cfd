// Boxes moved by copy engines, which use no processors of the device.
#pragma once

#include "launch/submission.h"
#include "move.h"
#include "plan/copy_engines.h"

#include <span>

namespace ucd::UCD_GPU {

// A copy of the vendor's for each that the moves' boxes are.
Status copy_boxes(const Submission &to, std::span<const Move> moves);

// Whether an engine is done with the move sooner than a kernel, by these figures. One side is
// device memory, and the other one pinned.
bool is_engine_faster(const gpu::CopyEngines &engines, const Move &move);

} // namespace ucd::UCD_GPU
