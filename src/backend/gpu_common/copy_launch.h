// From a copy between layouts to a kernel.
#pragma once

#include "device.h"
#include "job.h"
#include "tables.h"

#include <vector>

namespace ucd::UCD_GPU {

// Like launch_job().
Status launch_copy(Device &device, gpuStream_t stream, const CopyJob &job,
                   std::vector<TableUse> &uses);

} // namespace ucd::UCD_GPU
