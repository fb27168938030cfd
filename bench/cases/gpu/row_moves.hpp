// Who moves rows between host and device, besides UCD.
#pragma once

#include "baselines/gpu/rows.hpp"
#include "harness/device.hpp"

#include <string>
#include <vector>

namespace bench::gpu {

struct RowMove {
    std::string name;
    Work work;
};

// Between device and pinned memory: the runtime's 2-D copy, a batch of its copies, CCCL, a kernel
// in host memory, and, where the host's side is contiguous, a kernel on the device and a copy
// of what it packs or unpacks.
std::vector<RowMove> pinned_row_moves(Device &device, const Rows &rows, bool to_host);

// Between device and pageable memory: the runtime's 2-D copy, and staging through pinned chunks.
std::vector<RowMove> pageable_row_moves(Device &device, const Rows &rows, bool to_host);

} // namespace bench::gpu
