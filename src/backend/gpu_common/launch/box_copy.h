// Boxes moved by copy engines, which use no processors of the device.
#pragma once

#include "box.h"
#include "job.h"
#include "status.h"
#include "vendor.h"

#include <cstdint>
#include <span>

namespace ucd::UCD_GPU {

// Moves the jobs, whose ranges are boxes; in the stream.
Status copy_boxes(gpuStream_t stream, std::span<const Job> jobs, bool captured);

// The one box that the job's range is; false if it is none or many.
bool is_one_box(const Job &job, Box &box);

// Whether copying it is measured to be faster than a kernel, if one side is host memory.
bool is_faster_to_pinned(const Box &box, uintptr_t origin);

} // namespace ucd::UCD_GPU
