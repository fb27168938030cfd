// A job on its way to a kernel, and what all ways have in common.
#pragma once

#include "check.h"
#include "device.h"
#include "job.h"
#include "nest.h"
#include "plan.h"
#include "tables.h"

#include <vector>

namespace ucd::UCD_GPU {

inline constexpr uint64_t most_positions = uint64_t{1} << 31;

struct Work {
    Device &device;
    gpuStream_t stream;
    const Job &job;
    const GpuPlan &plan;
    LaunchMode mode;
    std::vector<TableUse> &uses;
    uintptr_t laid_out; // where the origin of the layout is
    uintptr_t packed;   // where the first byte of the range is or goes
    uint32_t word;      // that everything is a multiple of, addresses included

    uintptr_t stream_base() const { return packed - job.offset; } // stream byte 0, maybe fictitious
};

// The largest word of which the numbers that these bits were collected from are multiples.
inline uint32_t common_alignment(uint64_t bits) {
    bits |= vector_bytes;
    return static_cast<uint32_t>(bits & (~bits + 1));
}

// The 16-byte vectors of the packed side that hold the range.
struct Vectors {
    uintptr_t start;
    uint64_t count;
    uint32_t head, tail; // see NestParams

    Vectors(uintptr_t packed, uint64_t length)
        : start(packed / vector_bytes * vector_bytes),
          count((packed + length - start + vector_bytes - 1) / vector_bytes),
          head(static_cast<uint32_t>(packed - start)),
          tail(static_cast<uint32_t>(packed + length - (start + (count - 1) * vector_bytes))) {}
};

uint32_t grid_for(uint64_t tiles, const Limits &limits);

inline bool fits_32_bits(int64_t n) {
    return n == static_cast<int32_t>(n);
}

// Whether a nest can do it: steps and positions in words are small enough.
bool fits_nest(const Work &work);

// Everything but how tiles are given out.
Status describe_nest(Work &work, NestParams &params, LevelKind *kinds);

// The tables' address on the device, for work that comes next in the stream.
Status use_tables(Work &work, Tables &tables, const char *&memory);

template <class Params>
Status launch_kernel(const Work &work, const void *kernel, uint32_t blocks, Params &params) {
    void *arguments[] = {&params};
    return check(
        gpuLaunchKernel(kernel, dim3(blocks), dim3(threads_per_block), arguments, 0, work.stream),
        "launching a kernel");
}

// So that the first launch has nothing to load.
inline Status load_kernel(const void *kernel) {
    gpuFuncAttributes attributes;
    return check(gpuFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

} // namespace ucd::UCD_GPU
