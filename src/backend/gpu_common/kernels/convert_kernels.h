// The kernels that convert elements, which are generated.
#pragma once

#include "element.h"
#include "vendor.h"

namespace ucd::UCD_GPU {

// The kernels for a pair of elements. Most pairs have none, and some none for tiles. The last one
// is for nests that are not strided on both sides, and reads its parameters from a table.
struct ConvertKernels {
    const void *rows, *tiles, *places_batch;
};
ConvertKernels convert_kernels(Element from, Element to);

// For any pair.
const void *convert_any_kernel();

} // namespace ucd::UCD_GPU
