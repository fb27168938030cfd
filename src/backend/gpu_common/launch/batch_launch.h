// Packs or unpacks of any layouts as one launch, by a table of them.
#pragma once

#include "launch/submission.h"
#include "move.h"

#include <cstddef>
#include <span>

namespace ucd::UCD_GPU {

// Moves that join batches, of one direction: one launch, or as many as it takes.
Status launch_batches(const Submission &to, std::span<const Move> moves);

// Whether a table of so many members travels with the launch, if they share a few shapes.
bool is_small_batch(std::size_t members);

// Writes the table as the moves are made. `launched` stays false, and nothing has started, if they
// must be a list.
Status launch_as_made(const Submission &to, MoveMaker &maker, bool &launched);

// Loads the kernels, so that launches can be captured.
Status prepare_batches();

} // namespace ucd::UCD_GPU
