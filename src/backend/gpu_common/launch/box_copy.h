// Moves boxes by copy engines, which leave the device's processors free.
#pragma once

#include "launch/launch_target.h"
#include "move.h"

#include <span>

namespace ucd::UCD_GPU {

// Starts one copy of the vendor's API for each pitched copy in the moves' boxes.
Status copy_boxes(LaunchTarget &to, std::span<const Move> moves);

// Whether the engine is estimated to finish the move sooner than a kernel. One side must be device
// memory, and the other one pinned.
bool is_engine_faster(const Move &move);

} // namespace ucd::UCD_GPU
