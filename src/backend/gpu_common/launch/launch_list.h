// Launches lists of moves.
#pragma once

#include "launch/launch_target.h"
#include "move.h"

namespace ucd::UCD_GPU {

// Launches the whole list.
Status launch_list(LaunchTarget &to, const MoveList &list);

// Same, for moves that are made during the call. Not for launches that are being prepared.
Status launch_made(LaunchTarget &to, MoveMaker &maker);

} // namespace ucd::UCD_GPU
