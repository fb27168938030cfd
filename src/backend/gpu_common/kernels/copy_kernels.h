#pragma once

#include "vendor.h"

namespace ucd::UCD_GPU {

// Null if no word has this width.
const void *copy_rows_kernel(unsigned width);
const void *copy_tiles_kernel(unsigned width);
const void *copy_places_kernel(unsigned width);

const void *copy_interpreters_kernel();

} // namespace ucd::UCD_GPU
