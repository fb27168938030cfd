// Launches kernels that read a table in device memory.
#pragma once

#include "launch/member_table_builder.h"
#include "launch/submission.h"

#include <cstddef>
#include <cstdint>
#include <list>

namespace ucd::UCD_GPU {

// Uploads the table and launches the kernel that reads it. `built_in` is the upload memory that the
// builder wrote to, if it did.
Status launch_table(const Submission &to, const TableBuilder &builder, const void *kernel,
                    uint32_t max_blocks, BatchUse built_in = {});

// Batches whose members have individual parameters: one table for each kernel.
class MemberTables {
public:
    // Whether a table pays for this many members. An upload takes as long as a launch, but prepared
    // launches need no upload.
    static bool pay(const Submission &to, std::size_t members);

    // Returns false if the member must be launched on its own.
    template <class Params>
    bool add(const void *kernel, const Params &params, uint64_t tiles) {
        return table_of(kernel).add(params, tiles);
    }
    Status launch(const Submission &to, uint32_t max_blocks);

private:
    MemberTableBuilder &table_of(const void *kernel);
    std::list<MemberTableBuilder> tables_;
};

} // namespace ucd::UCD_GPU
