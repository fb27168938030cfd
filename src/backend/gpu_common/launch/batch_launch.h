// Launches packs or unpacks of any layouts together, by a table of them.
#pragma once

#include "launch/launch_target.h"
#include "move.h"

#include <cstddef>
#include <span>

namespace ucd::UCD_GPU {

// Launches moves that join batches and have one direction, in as few launches as possible.
Status launch_batches(LaunchTarget &to, std::span<const Move> moves);

// Whether the table of this many members fits in kernel parameters if they share a few shapes.
bool is_small_batch(std::size_t members);

// Writes the table while the moves are made. If they must be made as a list, `launched` stays
// false, and nothing was started.
Status launch_as_made(LaunchTarget &to, MoveMaker &maker, bool &launched);

// Loads the kernels, because graphs cannot load them during capture.
Status prepare_batches();

} // namespace ucd::UCD_GPU
