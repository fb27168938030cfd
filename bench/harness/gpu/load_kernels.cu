#include "harness/gpu/load_kernels.hpp"

namespace bench::gpu {
namespace {

constexpr unsigned threads = 1024;
constexpr unsigned spin_steps = 8192, burst_steps = 2048, bursts_per_processor = 16;
constexpr std::uint64_t max_nanoseconds = 2'000'000'000;

__device__ float compute(float value, unsigned steps) {
#pragma unroll 16
    for (unsigned i = 0; i < steps; ++i) value = fmaf(value, 0.999f, 0.5f);
    return value;
}

__global__ void __launch_bounds__(threads, 2)
    spin(const volatile std::uint32_t *stop, volatile std::uint64_t *done) {
    __shared__ bool over;
    const std::uint64_t start = nanoseconds();
    auto value = static_cast<float>(threadIdx.x);
    for (bool last = false; !last;) {
        value = compute(value, spin_steps);
        if (threadIdx.x == 0) {
            done[blockIdx.x] = done[blockIdx.x] + 1;
            over = *stop != 0 || nanoseconds() - start > max_nanoseconds;
        }
        __syncthreads();
        last = over;
        __syncthreads();
    }
    if (value < 0) done[blockIdx.x] = 0; // never, but the compiler cannot leave the work out
}

__global__ void __launch_bounds__(threads, 2) burst(float *never) {
    const float value = compute(static_cast<float>(threadIdx.x), burst_steps);
    if (value < 0) *never = value;
}

__global__ void __launch_bounds__(threads, 2) copy_vectors(uint4 *to, const uint4 *from) {
    const std::size_t at = std::size_t{blockIdx.x} * threads + threadIdx.x;
    to[at] = from[at];
}

} // namespace

void start_spinning(gpuStream_t stream, unsigned blocks, const std::uint32_t *stop,
                    std::uint64_t *done) {
    spin<<<blocks, threads, 0, stream>>>(stop, done);
}

void start_burst(gpuStream_t stream, unsigned processors) {
    burst<<<processors * bursts_per_processor, threads, 0, stream>>>(nullptr);
}

void start_copying(gpuStream_t stream, char *to, const char *from, std::size_t bytes) {
    copy_vectors<<<static_cast<unsigned>(bytes / 16 / threads), threads, 0, stream>>>(
        reinterpret_cast<uint4 *>(to), reinterpret_cast<const uint4 *>(from));
}

} // namespace bench::gpu
