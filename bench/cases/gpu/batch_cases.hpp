// The batches that are measured on a GPU.
#pragma once

#include "baselines/gpu/batches.hpp"
#include "cases/batch.hpp"

namespace bench::gpu {

struct GpuBatchCase {
    BatchCase batch;
    void (*by_hand)(const hand::BoxMember *, unsigned) = nullptr;
    bool one_by_one = true; // beside a call for each, and to pinned memory too
};

// 256 vectors of 4 KiB, no two alike; the same, added up.
GpuBatchCase vectors();
GpuBatchCase sums();

// What cells of adaptive meshes send: the faces, edges and corners of a block of 16^3 doubles with
// two layers of ghost cells, and the quarters of faces that finer neighbours want.
GpuBatchCase halos();

// Pages of key-value caches: consecutive bytes, 256 to 16 Ki of them, all over the memory; and
// pages of one size.
GpuBatchCase pages();
GpuBatchCase pages_of(std::int32_t bytes);

} // namespace bench::gpu
