#include "spin.hpp"

#include <stdexcept>

namespace ucdtest {
namespace {

__global__ void spin(volatile int *stop) {
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
    if (gpuGetDeviceProperties(&properties, 0) != gpuSuccess ||
        gpuStreamCreateWithFlags(&stream_, gpuStreamNonBlocking) != gpuSuccess ||
        gpuHostAlloc(const_cast<int **>(&stop_), sizeof(int), gpuHostAllocMapped) != gpuSuccess)
        throw std::runtime_error("no spinning kernel");
    *stop_ = 0;
    const int per_processor =
        properties.maxThreadsPerMultiProcessor / properties.maxThreadsPerBlock;
    spin<<<properties.multiProcessorCount * per_processor, properties.maxThreadsPerBlock, 0,
           stream_>>>(stop_);
    if (gpuGetLastError() != gpuSuccess) throw std::runtime_error("no spinning kernel");
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
