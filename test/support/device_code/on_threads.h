// What device code needs, for the threads of the host vendor. A group's threads run one after the
// other, between barriers.
#pragma once

#include "support/host_vendor/vendor.h"

#define UCD_DEVICE_CODE_FUNCTION inline
#define UCD_DEVICE_CODE_HOST_FUNCTION inline
#define UCD_DEVICE_CODE_FOR_EACH_RANK(group, rank)                                                 \
    for (uint64_t rank = 0; rank < (group).size(); ++rank)

namespace ucd {
inline namespace v1_0 {
namespace device_code {
using hostgpu::high_product;
using hostgpu::load;
using hostgpu::load_table;
using hostgpu::Quad;
using hostgpu::store;
} // namespace device_code
} // namespace v1_0
} // namespace ucd
