// The reduction kernels, which are generated for each op and element.
#pragma once

#include "element.h"
#include "vendor.h"

#include <cstdint>
#include <span>

namespace ucd::UCD_GPU {

struct ReduceKernel {
    const char *name;
    const void *handle; // null: only the kernel for any elements can do it
    const void *batch;  // likewise for batches
    uint8_t number;     // its index in reduce_kernels(), for the kernel for any elements
};
std::span<const ReduceKernel> reduce_kernels();

// A pair of op and element that devices can reduce, and its kernel. Several pairs may share a
// kernel.
struct Reduction {
    Op op;
    Element element;
    uint8_t number;
};
std::span<const Reduction> reductions();

// Null if devices cannot do this reduction.
const ReduceKernel *reduce_kernel(Op op, Element element);

const void *reduce_any_kernel();
const void *reduce_any_batch_kernel();

// The kernels for one kind of element: for one move and for a batch.
struct ReduceHandles {
    const void *one, *batch;
};

} // namespace ucd::UCD_GPU
