// What a batch's kernel reads from device memory.
#pragma once

#include "launch/gpu_plan.h"
#include "move.h"
#include "params/batch.h"
#include "runtime/device_lists.h"

#include <vector>

namespace ucd::UCD_GPU {

// The table of one launch, in the making.
class TableBuilder {
public:
    virtual ~TableBuilder() = default;
    const BatchSections &sections() const { return sections_; }
    const std::vector<ListsAt> &lists() const { return used_; } // that it refers to
    std::size_t bytes() const { return bytes_; }
    virtual void write(char *table) const = 0;

protected:
    static constexpr std::size_t whole_vectors(std::size_t bytes) {
        return (bytes + vector_bytes - 1) / vector_bytes * vector_bytes;
    }
    // Gives a section its place.
    void place(uint32_t &section, std::size_t bytes) {
        section = static_cast<uint32_t>(bytes_);
        bytes_ += whole_vectors(bytes);
    }

    BatchSections sections_{};
    std::vector<ListsAt> used_;
    std::size_t bytes_ = 0;
};

} // namespace ucd::UCD_GPU
