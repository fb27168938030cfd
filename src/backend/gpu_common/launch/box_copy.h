// Boxes moved by copy engines, which use no processors of the device.
#pragma once

#include "move.h"
#include "plan/copy_engines.h"
#include "status.h"
#include "vendor.h"

#include <span>

namespace ucd::UCD_GPU {

// Moves the moves in the stream, a copy for each of the vendor's that their boxes are.
Status copy_boxes(gpuStream_t stream, std::span<const Move> moves, bool captured);

// Whether an engine is done with the move sooner than a kernel, by these figures. One side is
// device memory, and the other one pinned.
bool is_engine_faster(const gpu::CopyEngines &engines, const Move &move);

} // namespace ucd::UCD_GPU
