#include "launch/member_tables.h"

#include "tuning.h"

#include <cstring>

namespace ucd::UCD_GPU {

bool MemberTable::add(const void *params, std::size_t bytes, uint64_t tiles) {
    constexpr uint64_t max_tiles = uint64_t{1} << 22, max_bytes = uint64_t{1} << 31;
    if (tiles_.size() + tiles > max_tiles || params_.size() + bytes > max_bytes) return false;
    const auto *first = static_cast<const char *>(params);
    params_.insert(params_.end(), first, first + bytes);
    for (uint32_t number = 0; number < tiles; ++number) tiles_.push_back({members_, number});
    ++members_;
    return true;
}

Status MemberTable::launch(LaunchTarget &to, uint32_t max_blocks) {
    if (members_ == 0) return success;
    sections_.tiles = static_cast<uint32_t>(tiles_.size());
    place(sections_.starts, tiles_.size() * sizeof tiles_[0]);
    place(sections_.members, params_.size());
    return launch_table(to, *this, kernel_, max_blocks);
}

void MemberTable::write(char *table) const {
    std::memcpy(table + sections_.starts, tiles_.data(), tiles_.size() * sizeof tiles_[0]);
    std::memcpy(table + sections_.members, params_.data(), params_.size());
}

// An upload takes as long as a launch, but prepared launches need no upload.
bool MemberTables::pay(const LaunchTarget &to, std::size_t members) {
    return members >= (to.is_recorded() ? 2 : tuning.min_members_batched);
}

MemberTable &MemberTables::table_of(const void *kernel) {
    for (MemberTable &table : tables_)
        if (table.kernel() == kernel) return table;
    return tables_.emplace_back(kernel);
}

Status MemberTables::launch(uint32_t max_blocks) {
    for (MemberTable &table : tables_) UCD_TRY(table.launch(to_, max_blocks));
    tables_.clear();
    return success;
}

} // namespace ucd::UCD_GPU
