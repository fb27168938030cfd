// Boxes moved by copy engines, which leave the processors of a device alone.
#pragma once

#include "box.h"
#include "direction.h"
#include "status.h"
#include "vendor.h"

#include <cstdint>

namespace ucd::UCD_GPU {

// Between the box, whose displacements count from `origin`, and packed bytes; in the stream.
Status copy_box(gpuStream_t stream, const Box &box, uintptr_t origin, char *packed,
                Direction direction);

// Whether that is measured to be faster than a kernel, if one side is host memory.
bool is_faster_to_pinned(const Box &box, uintptr_t origin);

} // namespace ucd::UCD_GPU
