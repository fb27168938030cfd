// Running jobs on the CPU.
#pragma once

#include "job.h"

namespace ucd::seq {

// Runs the job to completion in the calling thread, and in further ones if its limits say so.
void execute(const Job &job);

} // namespace ucd::seq
