#pragma once

#include "core/view.h"

namespace ucdpy {

// Whether libucd reads such indices: contiguous and aligned, in one dimension, of
// 32 or 64 bits.
bool are_plain_indices(const View &indices);

void bind_gather(nb::module_ &m);

} // namespace ucdpy
