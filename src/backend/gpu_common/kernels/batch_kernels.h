// The kernels that move batches.
#pragma once

#include "direction.h"
#include "params/batch.h"
#include "tuning.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

using namespace gpu;

// A table that is passed in the launch's parameters.
struct SmallBatchParams {
    static constexpr unsigned max_bytes = tuning.parameter_bytes - 2 * vector_bytes;
    BatchSections sections;
    alignas(vector_bytes) char table[max_bytes];
};
static_assert(sizeof(SmallBatchParams) == tuning.parameter_bytes);

const void *batch_kernel(Direction direction);
const void *small_batch_kernel(Direction direction);

} // namespace ucd::UCD_GPU
