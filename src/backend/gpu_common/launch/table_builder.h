// What a batch's kernel reads from device memory.
#pragma once

#include "job.h"
#include "launch/gpu_plan.h"
#include "params/batch.h"
#include "runtime/device_lists.h"

#include <vector>

namespace ucd::UCD_GPU {

// What a job gives to the table. Equal keys, equal tables.
struct BatchKey {
    uint64_t plan;
    uintptr_t typed, packed;
    uint64_t offset, length;

    explicit BatchKey(const Job &job)
        : plan(static_cast<const GpuPlan *>(job.plan)->id),
          typed(reinterpret_cast<uintptr_t>(job.typed)),
          packed(reinterpret_cast<uintptr_t>(job.packed)), offset(job.offset), length(job.length) {}
    friend bool operator==(const BatchKey &, const BatchKey &) = default;
};

// The table of one launch, in the making.
class TableBuilder {
public:
    virtual ~TableBuilder() = default;
    const BatchSections &sections() const { return sections_; }
    const std::vector<ListsAt> &lists() const { return used_; } // that it refers to
    std::size_t bytes() const { return bytes_; }
    virtual void write(char *table) const = 0;

protected:
    // Gives a section its place.
    void place(uint32_t &section, std::size_t bytes) {
        section = static_cast<uint32_t>(bytes_);
        bytes_ += (bytes + vector_bytes - 1) / vector_bytes * vector_bytes;
    }

    BatchSections sections_{};
    std::vector<ListsAt> used_;
    std::size_t bytes_ = 0;
};

} // namespace ucd::UCD_GPU
