// The kernels that convert elements, which are generated.
#pragma once

#include "element.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// The kernel for a pair of elements; for most pairs, that for any.
const void *convert_kernel(Element from, Element to);
const void *convert_any_kernel();

// The kernel for a pair of elements in nests that are not strided on both sides, which reads its
// parameters from a table; null for most pairs.
const void *convert_places_batch_kernel(Element from, Element to);

} // namespace ucd::UCD_GPU
