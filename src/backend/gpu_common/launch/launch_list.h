// How lists of moves are launched.
#pragma once

#include "launch/submission.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Puts all of the list into the stream of the submission.
Status launch_list(const Submission &to, const MoveList &list);

// The same for moves that are made in the call. Not for launches that are prepared.
Status launch_made(const Submission &to, MoveMaker &maker);

} // namespace ucd::UCD_GPU
