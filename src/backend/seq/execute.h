// Running moves on the CPU.
#pragma once

#include "move.h"

namespace ucd::seq {

// Runs the move to completion in the calling thread, and in further ones if its limits say so.
void execute(const Move &move);

} // namespace ucd::seq
