// Launches kernels that read a table in device memory.
#pragma once

#include "launch/launch_target.h"
#include "params/batch.h"

#include <cstddef>
#include <cstdint>

namespace ucd::UCD_GPU {

// Builds the table of one launch.
class TableBuilder {
public:
    virtual ~TableBuilder() = default;
    const gpu::BatchSections &sections() const { return sections_; }
    std::size_t bytes() const { return bytes_; }
    virtual void write(char *table) const = 0;

protected:
    static constexpr std::size_t whole_vectors(std::size_t bytes) {
        return (bytes + gpu::vector_bytes - 1) / gpu::vector_bytes * gpu::vector_bytes;
    }
    // Allocates a section of the table.
    void place(uint32_t &section, std::size_t bytes) {
        section = static_cast<uint32_t>(bytes_);
        bytes_ += whole_vectors(bytes);
    }

    gpu::BatchSections sections_{};
    std::size_t bytes_ = 0;
};

// Uploads the table and launches the kernel that reads it. `built_in` is the upload memory that the
// builder wrote to, if it did.
Status launch_table(LaunchTarget &to, const TableBuilder &builder, const void *kernel,
                    uint32_t max_blocks, BatchUse built_in = {});

} // namespace ucd::UCD_GPU
