#pragma once

#include "direction.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

const void *batch_kernel(Direction direction);
const void *small_batch_kernel(Direction direction);

} // namespace ucd::UCD_GPU
