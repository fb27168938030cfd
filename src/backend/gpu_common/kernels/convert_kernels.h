// The kernels that convert elements, which are generated.
#pragma once

#include "element.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// The kernels for a pair of elements. Most pairs have none, and some none for tiles.
struct ConvertKernels {
    const void *rows, *tiles;
};
ConvertKernels convert_kernels(Element from, Element to);

// For any pair.
const void *convert_any_kernel();

// The kernel for a pair of elements in nests that are not strided on both sides, which reads its
// parameters from a table; null for most pairs.
const void *convert_places_batch_kernel(Element from, Element to);

} // namespace ucd::UCD_GPU
