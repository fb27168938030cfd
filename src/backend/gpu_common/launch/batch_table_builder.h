// The table that a kernel for moves reads, made of a batch's jobs.
#pragma once

#include "job.h"
#include "launch/gpu_plan.h"
#include "launch/submission.h"
#include "launch/table_builder.h"
#include "params/batch.h"
#include "params/table_shape.h"
#include "plan/job_range.h"

#include <vector>

namespace ucd::UCD_GPU {

inline constexpr std::size_t max_batch_members = std::size_t{1}
                                                 << 24; // offsets in the table have 32 bits

// Whether the job is for batches of moves.
inline bool joins_batches(const Job &job) {
    // Words of one block are counted in 32 bits.
    return job.op == Op::replace && job.limits.engine != Engine::dma && job.length < max_positions;
}

// Vectors of the job, or one or two more.
inline uint64_t batch_vectors_of(const Job &job) {
    return job.length / vector_bytes + 2;
}

// How many times a table is expected to be read.
enum class TableUse : uint8_t { once, again };

class BatchTableBuilder final : public TableBuilder {
public:
    // The part of a table that is written member by member, for at most so many members.
    static std::size_t bytes_of_members(std::size_t members);

    // What was built before is forgotten. The members are written to `memory`, where write() may
    // put the rest, too.
    void begin(std::size_t members, char *memory);
    // A job that joins batches. Up to max_batch_vectors in all.
    Status add(const Submission &to, const Job &job);
    // At least one was added.
    void finish(TableUse use);

    std::size_t members() const { return members_; }
    uint64_t vectors() const { return vectors_; }
    void write(char *table) const override;

private:
    Status shape_of(const Submission &to, const GpuPlan &plan, uint32_t word, uint32_t &index);

    char *memory_ = nullptr;
    uint32_t *first_ = nullptr; // of each member's vectors
    BatchMember *member_ = nullptr;
    std::size_t members_ = 0, members_bytes_ = 0;
    uint64_t vectors_ = 0;
    uint64_t number_ = 0; // of this table among all
    std::vector<uint32_t> starts_;
    std::vector<TableShape> shapes_;
    std::vector<NestList> lists_;
};

} // namespace ucd::UCD_GPU
