#include "launch/table_launch.h"

#include "runtime/driver.h"
#include "runtime/graph_keeps.h"

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
    Status upload(const LaunchTarget &to, uint64_t &address) {
        return to.device().lists().use(lists_, to.device(), to.stream(), LaunchState::recorded,
                                       address, use_);
    }

private:
    std::vector<char> bytes_;
    DeviceLists lists_;
    ListUse use_; // declared last, because its destructor uses lists_
};

Status upload_lasting(const LaunchTarget &to, const TableBuilder &builder, uint64_t &address) {
    const auto table = std::make_shared<LastingTable>(builder);
    UCD_TRY(table->upload(to, address));
    if (to.is_captured())
        return driver::keep_with_graph(
            to.stream(), std::make_shared<KeptByGraph>(to.device().stores().graphs, table));
    to.needs().steps.emplace_back(table);
    return success;
}

// `built_in` lives until the table is written, because a part of it may be read from there.
Status upload_once(LaunchTarget &to, const TableBuilder &builder, BatchUse built_in,
                   uint64_t &address) {
    BatchUse table;
    if (built_in && builder.bytes() <= built_in.capacity())
        table = std::move(built_in);
    else
        UCD_TRY(to.device().tables().take(to.device(), builder.bytes(), table));
    builder.write(table.pinned());
    return to.upload(std::move(table), builder.bytes(), address);
}

} // namespace

Status launch_table(LaunchTarget &to, const TableBuilder &builder, const void *kernel,
                    uint32_t max_blocks, BatchUse built_in) {
    gpu::BatchParams params{builder.sections(), 0, 0};
    UCD_TRY(to.is_single() ? upload_once(to, builder, std::move(built_in), params.table)
                           : upload_lasting(to, builder, params.table));
    return to.launch(kernel, params.sections.tiles, max_blocks, params);
}

} // namespace ucd::UCD_GPU
