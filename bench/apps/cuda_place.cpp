#include "apps/place.hpp"

#include "apps/processes.hpp"
#include "cuda/busy_load.hpp"
#include "cuda/check_kernels.hpp"
#include "cuda/cuda_buffers.hpp"

#include <cstring>
#include <cuda_runtime.h>

namespace bench::apps {
namespace {

using gpu::check_cuda;

class BusyDevice : public BusyLoad {
public:
    explicit BusyDevice(double share)
        : load_({.name = "computing", .work = gpu::busy::LoadWork::spin, .share = share}) {}
    std::uint64_t done() const override { return load_.done(); }

private:
    gpu::busy::Load load_;
};

class CudaPlace : public Place {
public:
    explicit CudaPlace(int device) : device_(device) {
        check_cuda(cudaSetDevice(device), "choosing a device");
    }
    bool on_device() const override { return true; }
    std::string name() const override {
        cudaDeviceProp properties;
        check_cuda(cudaGetDeviceProperties(&properties, device_), "asking for a device's name");
        return properties.name;
    }
    char *allocate(std::size_t bytes) override {
        void *memory;
        check_cuda(cudaMalloc(&memory, bytes), "allocating device memory");
        return static_cast<char *>(memory);
    }
    void release(char *memory) override { (void)cudaFree(memory); }
    char *allocate_on_host(std::size_t bytes) override {
        void *memory;
        check_cuda(cudaMallocHost(&memory, bytes), "allocating pinned memory");
        return static_cast<char *>(memory);
    }
    void release_on_host(char *memory) override { (void)cudaFreeHost(memory); }

    void copy(void *to, const void *from, std::size_t bytes) override {
        start_copy(to, from, bytes);
        wait();
    }
    void set(char *memory, int value, std::size_t bytes) override {
        check_cuda(cudaMemset(memory, value, bytes), "setting memory");
        wait();
    }
    std::size_t count_different(const char *a, const char *b, std::size_t bytes) override {
        const std::size_t count = gpu::count_different(a, b, bytes);
        wait();
        return count;
    }
    void start_copy(void *to, const void *from, std::size_t bytes) override {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), "copying");
    }
    void start_copy_2d(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                       std::size_t width, std::size_t rows) override {
        check_cuda(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault,
                                     nullptr),
                   "copying rows");
    }
    void wait() override {
        check_cuda(cudaGetLastError(), "starting");
        check_cuda(cudaStreamSynchronize(nullptr), "waiting");
    }
    std::unique_ptr<BusyLoad> start_load(double share) override {
        return std::make_unique<BusyDevice>(share);
    }

private:
    int device_;
};

} // namespace

std::unique_ptr<Place> cuda_place(int device) {
    return std::make_unique<CudaPlace>(device);
}

int count_cuda_devices() {
    Board board(1);
    run_processes(1, 60, [&](unsigned seat) {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
        board.write(seat, &count, sizeof count);
    });
    int count;
    std::memcpy(&count, board.read(0).data(), sizeof count);
    return count;
}

} // namespace bench::apps
