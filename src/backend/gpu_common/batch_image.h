// The table that a batch's kernel reads, made of the batch's jobs.
#pragma once

#include "batch.h"
#include "device.h"
#include "job.h"
#include "job_range.h"
#include "plan.h"
#include "table_shape.h"
#include "tables.h"

#include <span>
#include <vector>

namespace ucd::UCD_GPU {

// What a job gives to the table. Equal keys, equal tables.
struct BatchKey {
    uint64_t plan;
    uintptr_t laid_out, packed;
    uint64_t offset, length;

    explicit BatchKey(const Job &job)
        : plan(static_cast<const GpuPlan *>(job.plan)->id),
          laid_out(reinterpret_cast<uintptr_t>(job.laid_out)),
          packed(reinterpret_cast<uintptr_t>(job.packed)), offset(job.offset), length(job.length) {}
    friend bool operator==(const BatchKey &, const BatchKey &) = default;
};

// The lists of a plan, and where they were on the device when the table was made.
struct BatchLists {
    Tables *tables;
    const char *memory;
};

// Whether the job is for batches. If not, it is launched by itself.
inline bool joins_batches(const Job &job) {
    // Words of one block are counted in 32 bits.
    return job.op == Op::replace && job.limits.engine != Engine::dma && job.length < most_positions;
}

// Vectors of the job, or one or two more.
inline uint64_t batch_vectors_of(const Job &job) {
    return job.length / vector_bytes + 2;
}

class BatchImage {
public:
    // `jobs` join batches, and have no more than most_batch_vectors in all. `uses` are the lists
    // that the launch needs until it is done.
    Status build(std::span<const Job> jobs, Device &device, gpuStream_t stream, LaunchMode mode,
                 std::vector<TableUse> &uses);

    const BatchSections &sections() const { return sections_; }
    const std::vector<BatchLists> &lists() const { return used_; }
    std::size_t bytes() const { return bytes_; }
    void write(char *table) const;

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
    std::vector<BatchLists> used_;
    BatchSections sections_{};
    std::size_t bytes_ = 0;
};

} // namespace ucd::UCD_GPU
