// Work on a device that is done when it returns.
#pragma once

#include "cuda_buffers.hpp"

namespace bench::gpu {

// Throws if what was started before in the null stream, or its start, failed.
void synchronise();

// Starts something, and waits until it is done.
Work blocking(std::function<void()> start);

Work copy_work(char *to, const char *from, std::size_t bytes);

} // namespace bench::gpu
