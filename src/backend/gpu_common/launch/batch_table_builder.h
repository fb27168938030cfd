// The table that a kernel for moves reads, made of a batch's jobs.
#pragma once

#include "job.h"
#include "launch/gpu_plan.h"
#include "launch/submission.h"
#include "launch/table_builder.h"
#include "params/batch.h"
#include "params/table_shape.h"
#include "plan/job_range.h"

#include <span>
#include <vector>

namespace ucd::UCD_GPU {

// Whether the job is for batches of moves.
inline bool joins_batches(const Job &job) {
    // Words of one block are counted in 32 bits.
    return job.op == Op::replace && job.limits.engine != Engine::dma && job.length < max_positions;
}

// Vectors of the job, or one or two more.
inline uint64_t batch_vectors_of(const Job &job) {
    return job.length / vector_bytes + 2;
}

class BatchTableBuilder final : public TableBuilder {
public:
    // `jobs` join batches, and have no more than max_batch_vectors in all. What was built before is
    // forgotten; the memory that it took serves again.
    Status build(const Submission &to, std::span<const Job> jobs);

    void write(char *table) const override;

private:
    Status add(const Submission &to, const Job &job);
    Status shape_of(const Submission &to, const GpuPlan &plan, uint32_t word, uint32_t &index);
    void arrange();
    void clear();

    uint64_t number_ = 0; // of this table among all
    std::vector<uint32_t> first_, starts_;
    std::vector<BatchMember> members_;
    std::vector<TableShape> shapes_;
    std::vector<NestList> lists_;
};

} // namespace ucd::UCD_GPU
