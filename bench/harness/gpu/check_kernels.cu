#include "vendor.hpp"

#include "harness/content.hpp"
#include "harness/gpu/check_kernels.hpp"

namespace bench::gpu {
namespace {

constexpr unsigned threads = 256, blocks = 2048;

template <class Body>
__global__ void for_each_byte(std::size_t bytes, Body body) {
    const std::size_t step = std::size_t{blocks} * threads;
    for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < bytes; i += step)
        body(i);
}

struct Fill {
    char *buffer;
    __device__ void operator()(std::size_t i) const { buffer[i] = static_cast<char>(content(i)); }
};
struct CountFilled {
    const char *buffer;
    unsigned long long *count;
    __device__ void operator()(std::size_t i) const {
        if (static_cast<std::uint8_t>(buffer[i]) != blank) atomicAdd(count, 1ull);
    }
};
struct CountForeign {
    const char *buffer;
    unsigned long long *count;
    __device__ void operator()(std::size_t i) const {
        const auto byte = static_cast<std::uint8_t>(buffer[i]);
        if (byte != blank && byte != content(i)) atomicAdd(count, 1ull);
    }
};
struct CountDifferent {
    const char *a, *b;
    unsigned long long *count;
    __device__ void operator()(std::size_t i) const {
        if (a[i] != b[i]) atomicAdd(count, 1ull);
    }
};
struct CountWrongRows {
    const char *to;
    std::size_t to_pitch, from_pitch, width;
    unsigned long long *count;
    __device__ void operator()(std::size_t i) const {
        const std::size_t row = i / to_pitch, in = i % to_pitch;
        const std::uint8_t expected = in < width ? content(row * from_pitch + in) : blank;
        if (static_cast<std::uint8_t>(to[i]) != expected) atomicAdd(count, 1ull);
    }
};

template <class Body>
std::size_t counted(std::size_t bytes, Body body) {
    (void)gpuMalloc(&body.count, sizeof *body.count);
    (void)gpuMemset(body.count, 0, sizeof *body.count);
    for_each_byte<<<blocks, threads>>>(bytes, body);
    unsigned long long count = ~0ull;
    (void)gpuMemcpy(&count, body.count, sizeof count, gpuMemcpyDefault);
    (void)gpuFree(body.count);
    return count;
}

} // namespace

void fill(char *buffer, std::size_t bytes) {
    for_each_byte<<<blocks, threads>>>(bytes, Fill{buffer});
}

std::size_t count_filled(const char *buffer, std::size_t bytes) {
    return counted(bytes, CountFilled{buffer, nullptr});
}

std::size_t count_foreign(const char *buffer, std::size_t bytes) {
    return counted(bytes, CountForeign{buffer, nullptr});
}

std::size_t count_different(const char *a, const char *b, std::size_t bytes) {
    return counted(bytes, CountDifferent{a, b, nullptr});
}

std::size_t count_wrong_rows(const char *to, std::size_t to_pitch, std::size_t from_pitch,
                             std::size_t width, std::size_t rows) {
    return counted(to_pitch * rows, CountWrongRows{to, to_pitch, from_pitch, width, nullptr});
}

} // namespace bench::gpu
