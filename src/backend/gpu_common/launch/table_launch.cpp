#include "launch/table_launch.h"

#include "launch/kept.h"
#include "launch/launch_context.h"
#include "runtime/driver.h"
#include "tuning.h"

#include <memory>
#include <vector>

namespace ucd::UCD_GPU {
namespace {

// The table of a graph or of a prepared launch: a list on devices, like any other, in its own
// memory.
class LastingTable {
public:
    explicit LastingTable(const TableBuilder &builder)
        : bytes_(builder.bytes()), lists_({bytes_.data(), bytes_.size()}) {
        builder.write(bytes_.data());
    }
    Status upload(const Submission &to, uint64_t &address) {
        return ListStore::instance().use(lists_, to.device, to.stream, LaunchMode::prepare, address,
                                         use_);
    }

private:
    std::vector<char> bytes_;
    DeviceLists lists_;
    ListUse use_; // declared last, because its destructor uses lists_
};

Status upload_lasting(const Submission &to, const TableBuilder &builder, uint64_t &address) {
    const auto table = std::make_shared<LastingTable>(builder);
    UCD_TRY(table->upload(to, address));
    if (to.mode == LaunchMode::capture)
        return driver::keep_with_graph(to.stream, std::make_shared<KeptByGraph>(table));
    to.needs.tables.push_back(table);
    return success;
}

} // namespace

Status launch_table(const Submission &to, const TableBuilder &builder, const void *kernel,
                    uint32_t max_blocks, BatchUse built_in) {
    BatchParams params{builder.sections(), 0, 0};
    if (to.mode == LaunchMode::now) {
        // Reserve the entry first, because nothing may fail after the upload was started.
        to.needs.batches.reserve(to.needs.batches.size() + 1);
        BatchUse table;
        if (built_in && builder.bytes() <= built_in.capacity())
            table = std::move(built_in);
        else
            UCD_TRY(BatchStore::instance().take(to.device, builder.bytes(), table));
        builder.write(table.pinned());
        UCD_TRY(check(gpuMemcpyAsync(table.memory(), table.pinned(), builder.bytes(),
                                     gpuMemcpyDefault, to.stream),
                      "uploading a batch"));
        params.table = reinterpret_cast<uintptr_t>(table.memory());
        to.needs.batches.push_back(std::move(table));
    } else {
        UCD_TRY(upload_lasting(to, builder, params.table));
    }
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
        UCD_TRY(launch_table(to, table, table.kernel(), max_blocks));
    }
    return success;
}

} // namespace ucd::UCD_GPU
