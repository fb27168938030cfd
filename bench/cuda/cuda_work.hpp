// Work on a device that is done when it returns.
#pragma once

#include "cuda_buffers.hpp"
#include "hand_kernels.hpp"

namespace bench::gpu {

// Throws if what was started before in the null stream, or its start, failed.
void synchronise();

// Starts something, and waits until it is done.
Work blocking(std::function<void()> start);

Work copy_work(char *to, const char *from, std::size_t bytes);

// 2-D or 3-D copies of CUDA's, of so many boxes at such a distance.
Work box_work(const Nest<2> &box, char *laid_out, char *packed, bool pack, Level boxes = {1, 0});

} // namespace bench::gpu
