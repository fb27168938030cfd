#include "launch/table_launch.h"

#include "launch/launch_context.h"
#include "runtime/driver.h"
#include "tuning.h"

#include <memory>

namespace ucd::UCD_GPU {

Status launch_table(const Submission &to, const TableBuilder &builder, const void *kernel,
                    uint32_t max_blocks, BatchUse use) {
    // Room for its entry in the needs comes first: after the upload has started, nothing may fail.
    to.needs.batches.reserve(to.needs.batches.size() + 1);
    UCD_TRY(BatchStore::upload(to.device, to.stream, to.mode, builder, use));
    BatchParams params{builder.sections(), 0, reinterpret_cast<uintptr_t>(use.memory())};
    if (to.mode == LaunchMode::capture)
        UCD_TRY(driver::keep_with_graph(to.stream, std::make_shared<BatchUse>(std::move(use))));
    else
        to.needs.batches.push_back(std::move(use));
    return launch_kernel(to, kernel, params.sections.tiles, max_blocks, params);
}

bool MemberTables::pay(const Submission &to, std::size_t members) {
    return members >= (to.mode == LaunchMode::prepare ? 2 : tuning.min_members_batched);
}

MemberTableBuilder &MemberTables::table_of(const void *kernel) {
    for (MemberTableBuilder &table : tables_)
        if (table.kernel() == kernel) return table;
    return tables_.emplace_back(kernel);
}

Status MemberTables::launch(const Submission &to, uint32_t max_blocks) {
    for (MemberTableBuilder &table : tables_) {
        if (table.members() == 0) continue;
        table.arrange();
        BatchUse use;
        UCD_TRY(BatchStore::instance().take(to.device, table.bytes(), use));
        UCD_TRY(launch_table(to, table, table.kernel(), max_blocks, std::move(use)));
    }
    return success;
}

} // namespace ucd::UCD_GPU
