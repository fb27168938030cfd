// The part of the program that needs a GPU.
#pragma once

#include "sections.hpp"

namespace bench {

// Layouts in device memory, packed there and in pinned memory; small calls; pieces in flight. Throws
// std::runtime_error if this program was built without CUDA.
void run_cuda(Run &run);

} // namespace bench
