// Launches of kernels that read a table in device memory.
#pragma once

#include "launch/member_table_builder.h"
#include "launch/submission.h"

#include <cstddef>
#include <cstdint>
#include <list>

namespace ucd::UCD_GPU {

// Uploads what was built, and launches the kernel that reads it. `built_in`: the memory for uploads
// that the builder has used, if it has.
Status launch_table(const Submission &to, const TableBuilder &builder, const void *kernel,
                    uint32_t max_blocks, BatchUse built_in = {});

// Batches whose members have parameters of their own: a table for each kernel.
class MemberTables {
public:
    // Whether so many members become a table. An upload takes as long as a launch, but a launch
    // that is prepared has none.
    static bool pay(const Submission &to, std::size_t members);

    // False if it must be a launch of its own.
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
