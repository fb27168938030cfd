// Launches lists of moves.
#pragma once

#include "launch/submission.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Puts the whole list into the submission's stream.
Status launch_list(const Submission &to, const MoveList &list);

// Same, for moves that are made during the call. Not for launches that are being prepared.
Status launch_made(const Submission &to, MoveMaker &maker);

} // namespace ucd::UCD_GPU
