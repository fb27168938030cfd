// The part of the program that needs a GPU.
#pragma once

#include "cuda_options.hpp"
#include "sections.hpp"

namespace bench {

// The parts that are asked for; if none is: layouts in device memory, packed there and in pinned
// memory; small calls; pieces in flight. Returns how many rows failed. Throws std::runtime_error if
// this program was built without CUDA.
unsigned run_cuda(Run &run, const CudaOptions &options);

} // namespace bench
