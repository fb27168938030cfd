// The sections of ucd-bench that the host and GPUs share.
#pragma once

#include "baselines/reductions.hpp"
#include "harness/device.hpp"
#include "harness/run.hpp"

#include <cstdint>
#include <vector>

namespace bench {

// With an op, of these sizes (packed KiB).
void run_reductions(Run &run, Device &device, std::span<const ReductionMoves> all,
                    const std::vector<std::int64_t> &sizes);

} // namespace bench
