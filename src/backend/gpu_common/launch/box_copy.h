// Boxes moved by copy engines, which use no processors of the device.
#pragma once

#include "job.h"
#include "pitched_copies.h"
#include "status.h"
#include "vendor.h"

#include <cstdint>
#include <span>

namespace ucd::UCD_GPU {

// Moves the jobs in the stream, a copy for each of the vendor's that their boxes are.
Status copy_boxes(gpuStream_t stream, std::span<const Job> jobs, bool captured);

// The one copy that the job's range is; false if it is several.
bool is_one_copy(const Job &job, PitchedCopy &copy);

// Whether copying it is measured to be faster than a kernel, if one side is host memory.
bool is_faster_to_pinned(const PitchedCopy &copy, uintptr_t origin);

} // namespace ucd::UCD_GPU
