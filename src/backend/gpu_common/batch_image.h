// The table that a kernel for moves reads, made of a batch's jobs.
#pragma once

#include "batch.h"
#include "device.h"
#include "job.h"
#include "job_range.h"
#include "plan.h"
#include "table_image.h"
#include "table_shape.h"

#include <span>
#include <vector>

namespace ucd::UCD_GPU {

// Whether the job is for batches of moves.
inline bool joins_batches(const Job &job) {
    // Words of one block are counted in 32 bits.
    return job.op == Op::replace && job.limits.engine != Engine::dma && job.length < most_positions;
}

// Vectors of the job, or one or two more.
inline uint64_t batch_vectors_of(const Job &job) {
    return job.length / vector_bytes + 2;
}

class BatchImage final : public TableImage {
public:
    // `jobs` join batches, and have no more than most_batch_vectors in all. `uses` are the lists
    // that the launch needs until it is done.
    Status build(std::span<const Job> jobs, Device &device, gpuStream_t stream, LaunchMode mode,
                 std::vector<TableUse> &uses);

    void write(char *table) const override;

private:
    struct Site {
        Device &device;
        gpuStream_t stream;
        LaunchMode mode;
        std::vector<TableUse> &uses;
    };
    Status add(const Site &site, const Job &job);
    Status shape_of(const Site &site, const GpuPlan &plan, uint32_t word, uint32_t &index);
    Status use(const Site &site, Tables &tables, const char *&memory);
    void arrange();

    uint64_t number_ = 0; // of this image among all
    std::vector<uint32_t> first_, starts_;
    std::vector<BatchMember> members_;
    std::vector<TableShape> shapes_;
    std::vector<NestList> lists_;
};

} // namespace ucd::UCD_GPU
