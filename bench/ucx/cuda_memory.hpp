#pragma once

#include "ucx/memory.hpp"

namespace bench {

std::unique_ptr<Memory> open_cuda_memory(int device);

} // namespace bench
