// The kernels that reduce, generated for each op and element.
#pragma once

#include "element.h"
#include "vendor.h"

#include <cstdint>
#include <span>

namespace ucd::UCD_GPU {

struct ReduceKernel {
    const char *name;
    const void *handle; // null: only the kernel for any elements does it
    const void *batch;  // the same for batches
    uint8_t number;     // what that one knows it by: where it stands in reduce_kernels()
};
std::span<const ReduceKernel> reduce_kernels();

// What a device can reduce, and by which kernel. Several may share one.
struct Reduction {
    Op op;
    Element element;
    uint8_t number;
};
std::span<const Reduction> reductions();

// Null where a device has no such reduction.
const ReduceKernel *reduce_kernel(Op op, Element element);

const void *reduce_any_kernel();
const void *reduce_any_batch_kernel();

// Of elements of one kind: one move's and a batch's.
struct ReduceHandles {
    const void *one, *batch;
};

} // namespace ucd::UCD_GPU
