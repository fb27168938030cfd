// Runs moves on the CPU.
#pragma once

#include "move.h"

namespace ucd::seq {

// Runs the move to completion in the calling thread, and in additional threads if its limits allow.
void execute(const Move &move);

} // namespace ucd::seq
