// The memory of CUDA devices for the tests of device moves, in the place of the mock's driver. With one
// device, it stands for both.
#include "support/mock_driver.h"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace mock {
namespace {

void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

int second_device() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1 ? 1 : 0;
}

} // namespace

Knobs knobs;
Counts counts;
const BackendTraits backend = {
    .name = "cuda", .remembers = true, .second_device = second_device()};

void reset() {}
void let_go() {}

void *allocate(ucd::MemoryKind kind, int device, std::size_t bytes) {
    void *address = nullptr;
    bytes = bytes == 0 ? 1 : bytes;
    check(cudaSetDevice(device == 0 ? 0 : backend.second_device), "choosing a device");
    switch (kind) {
    case ucd::MemoryKind::host: return nullptr;
    case ucd::MemoryKind::pinned: check(cudaMallocHost(&address, bytes), "pinned memory"); break;
    case ucd::MemoryKind::managed: check(cudaMallocManaged(&address, bytes), "managed memory"); break;
    case ucd::MemoryKind::device: check(cudaMalloc(&address, bytes), "device memory"); break;
    }
    return address;
}

void release(void *address) {
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, address), "asking whose memory it is");
    check(attributes.type == cudaMemoryTypeHost ? cudaFreeHost(address) : cudaFree(address),
          "freeing memory");
}

void write(void *address, const void *from, std::size_t bytes) {
    if (bytes == 0) return;
    check(cudaMemcpy(address, from, bytes, cudaMemcpyDefault), "writing");
    // From pageable memory, that returns before the data has arrived.
    check(cudaStreamSynchronize(nullptr), "writing");
}

void read(void *to, const void *address, std::size_t bytes) {
    if (bytes > 0) check(cudaMemcpy(to, address, bytes, cudaMemcpyDefault), "reading");
}

} // namespace mock
