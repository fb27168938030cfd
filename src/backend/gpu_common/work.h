// A job on its way to a kernel, and what all ways have in common.
#pragma once

#include "check.h"
#include "device.h"
#include "job_range.h"
#include "plan.h"
#include "tables.h"

#include <vector>

namespace ucd::UCD_GPU {

struct Work {
    Device &device;
    gpuStream_t stream;
    const Job &job;
    const GpuPlan &plan;
    LaunchMode mode;
    std::vector<TableUse> &uses;
    uintptr_t laid_out;                     // where the origin of the layout is
    uintptr_t packed;                       // where the first byte of the range is or goes
    uint32_t word;                          // that everything is a multiple of, addresses included
    std::vector<TablesAt> *noted = nullptr; // the tables, for whoever wants to know

    uintptr_t stream_base() const { return packed - job.offset; } // stream byte 0, maybe fictitious
};

inline Work work_of(Device &device, gpuStream_t stream, const Job &job, LaunchMode mode,
                    std::vector<TableUse> &uses) {
    const auto &plan = static_cast<const GpuPlan &>(*job.plan);
    const uintptr_t laid_out =
        reinterpret_cast<uintptr_t>(job.laid_out) + static_cast<uintptr_t>(plan.layout.start);
    const auto packed = reinterpret_cast<uintptr_t>(job.packed);
    const uint32_t word = common_alignment(plan.word | laid_out | (packed - job.offset));
    return {device, stream, job, plan, mode, uses, laid_out, packed, word};
}

// A nest's numbers, all but how tiles are given out.
Status describe_nest(Work &work, NestParams &params, LevelKind *kinds);

// The tables' address on the device, for work that comes next in the stream.
Status use_tables(Work &work, Tables &tables, const char *&memory);

Status use_program(Work &work, GpuPlan::Program &program, ProgramRef &ref);

inline bool touches_host_memory(const Job &job) {
    return job.laid_out_kind == MemoryKind::pinned || job.packed_kind == MemoryKind::pinned;
}

// The cap on a kernel's blocks. A move in host memory waits for the bus, which two blocks on each
// processor saturate: more would only wait there, in the places of other kernels. Reductions may be
// limited by arithmetic, and have as many as there is work for.
inline uint32_t max_blocks(const Device &device, const Job &job) {
    const bool waits_for_bus = touches_host_memory(job) && job.op == Op::replace;
    if (job.limits.max_blocks > 0 || !waits_for_bus) return job.limits.max_blocks;
    return 2 * device.processors();
}

// `tiles`: what the kernel gives out to its blocks.
template <class Params>
Status launch_kernel(gpuStream_t stream, const void *kernel, uint64_t tiles, uint32_t max_blocks,
                     Params &params) {
    void *arguments[] = {&params};
    return check(gpuLaunchKernel(kernel, dim3(grid_for(tiles, max_blocks)), dim3(threads_per_block),
                                 arguments, 0, stream),
                 "launching a kernel");
}

// So that the first launch has nothing to load.
inline Status load_kernel(const void *kernel) {
    gpuFuncAttributes attributes;
    return check(gpuFuncGetAttributes(&attributes, kernel), "loading a kernel");
}

} // namespace ucd::UCD_GPU
