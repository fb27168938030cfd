// The table that a batch's kernel reads from device memory.
#pragma once

#include "params/batch.h"
#include "vendor.h"

#include <cstddef>
#include <cstdint>

namespace ucd::UCD_GPU {

using namespace gpu;

// Builds the table of one launch.
class TableBuilder {
public:
    virtual ~TableBuilder() = default;
    const BatchSections &sections() const { return sections_; }
    std::size_t bytes() const { return bytes_; }
    virtual void write(char *table) const = 0;

protected:
    static constexpr std::size_t whole_vectors(std::size_t bytes) {
        return (bytes + vector_bytes - 1) / vector_bytes * vector_bytes;
    }
    // Allocates a section of the table.
    void place(uint32_t &section, std::size_t bytes) {
        section = static_cast<uint32_t>(bytes_);
        bytes_ += whole_vectors(bytes);
    }

    BatchSections sections_{};
    std::size_t bytes_ = 0;
};

} // namespace ucd::UCD_GPU
