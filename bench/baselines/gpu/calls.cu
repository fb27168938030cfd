#include "baselines/gpu/calls.hpp"

namespace bench::gpu::hand {
namespace {

constexpr unsigned threads = 256, vectors = called_blocks * called_block / 16,
                   vectors_per_block = called_block / 16;

__global__ void __launch_bounds__(threads) pack_blocks(const char *typed, uint4 *packed) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    packed[i] = *reinterpret_cast<const uint4 *>(typed + i / vectors_per_block * called_stride +
                                                 i % vectors_per_block * 16);
}

} // namespace

void pack_64_kib(const char *typed, char *packed, gpuStream_t stream) {
    pack_blocks<<<vectors / threads, threads, 0, stream>>>(typed,
                                                           reinterpret_cast<uint4 *>(packed));
}

} // namespace bench::gpu::hand
