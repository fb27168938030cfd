#include "spin.hpp"

#include <cstddef>
#include <stdexcept>
#include <thread>

namespace ucdtest {
namespace {

__global__ void spin(volatile int *stop) {
    if (threadIdx.x == 0) stop[1 + blockIdx.x] = 1;
    __threadfence_system();
    while (*stop == 0) {
    }
}

__global__ void number(int *values, int count, int by) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) values[i] = i + by;
}

} // namespace

Spinning::Spinning() {
    gpuDeviceProp properties;
    if (gpuGetDeviceProperties(&properties, 0) != gpuSuccess)
        throw std::runtime_error("no spinning kernel");
    const int blocks = properties.multiProcessorCount *
                       (properties.maxThreadsPerMultiProcessor / properties.maxThreadsPerBlock);
    const std::size_t bytes = (1 + static_cast<std::size_t>(blocks)) * sizeof(int);
    if (gpuStreamCreateWithFlags(&stream_, gpuStreamNonBlocking) != gpuSuccess ||
        gpuHostAlloc(const_cast<int **>(&stop_), bytes, gpuHostAllocMapped) != gpuSuccess)
        throw std::runtime_error("no spinning kernel");
    for (int i = 0; i <= blocks; ++i) stop_[i] = 0;
    spin<<<blocks, properties.maxThreadsPerBlock, 0, stream_>>>(stop_);
    if (gpuGetLastError() != gpuSuccess) throw std::runtime_error("no spinning kernel");
    // Before all blocks run, the device could run another kernel first: other processes use it,
    // too.
    for (int i = 1; i <= blocks; ++i)
        while (stop_[i] == 0 && gpuStreamQuery(stream_) == gpuErrorNotReady)
            std::this_thread::yield();
}

void Spinning::stop() {
    *stop_ = 1;
}

Spinning::~Spinning() {
    stop();
    (void)gpuStreamSynchronize(stream_);
    (void)gpuStreamDestroy(stream_);
    (void)gpuHostFree(const_cast<int *>(stop_));
}

void write_numbers(int *values, int count, int by, gpuStream_t stream) {
    number<<<(count + 255) / 256, 256, 0, stream>>>(values, count, by);
}

} // namespace ucdtest
