// The kernels that convert elements, which are generated.
#pragma once

#include "element.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// The kernel for a pair of elements; for most pairs, that for any.
const void *convert_kernel(Element from, Element to);
const void *convert_any_kernel();

} // namespace ucd::UCD_GPU
