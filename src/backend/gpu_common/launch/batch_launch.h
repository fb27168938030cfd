// Several moves in one go.
#pragma once

#include "launch/submission.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Like launch_move(), but the moves of one direction are one launch, as far as one kernel can move
// them.
Status launch_list(const Submission &to, const MoveList &list);

// The same for moves that are made in the call. Not for launches that are prepared.
Status launch_made(const Submission &to, MoveMaker &maker);

// Loads the kernels, so that launches can be captured.
Status prepare_batches();

} // namespace ucd::UCD_GPU
