#include "vendor.hpp"

#include "baselines/gpu/rows.hpp"

#if __has_include(<cub/device/device_memcpy.cuh>)

#include <cub/device/device_memcpy.cuh>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace bench::gpu::hand {
namespace {

struct RowAddress {
    char *first;
    std::int64_t pitch;
    __host__ __device__ void *operator()(std::int64_t row) const { return first + row * pitch; }
};

auto addresses(char *first, std::int64_t pitch) {
    return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}),
                                           RowAddress{first, pitch});
}

void run(const Rows &rows, void *memory, std::size_t &bytes) {
    const auto error = cub::DeviceMemcpy::Batched(
        memory, bytes, addresses(const_cast<char *>(rows.from), rows.from_pitch),
        addresses(rows.to, rows.to_pitch),
        thrust::make_constant_iterator(static_cast<std::uint32_t>(rows.width)), rows.rows);
    if (error != gpuSuccess)
        throw std::runtime_error(std::string("cub::DeviceMemcpy: ") + gpuGetErrorString(error));
}

} // namespace

std::function<void()> cub_rows(const Rows &rows) {
    std::size_t bytes = 0;
    run(rows, nullptr, bytes);
    void *memory = nullptr;
    if (gpuMalloc(&memory, bytes) != gpuSuccess) throw std::bad_alloc();
    const std::shared_ptr<void> kept(memory, [](void *p) { (void)gpuFree(p); });
    return [rows, kept, bytes]() mutable { run(rows, kept.get(), bytes); };
}

} // namespace bench::gpu::hand

#else

namespace bench::gpu::hand {

std::function<void()> cub_rows(const Rows &) {
    return nullptr;
}

} // namespace bench::gpu::hand

#endif
