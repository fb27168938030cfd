#include "launch/member_table_builder.h"

#include <cstring>

namespace ucd::UCD_GPU {

bool MemberTableBuilder::add(const void *params, std::size_t bytes, uint64_t tiles) {
    constexpr uint64_t max_tiles = uint64_t{1} << 22, max_bytes = uint64_t{1} << 31;
    if (tiles_.size() + tiles > max_tiles || params_.size() + bytes > max_bytes) return false;
    const auto *first = static_cast<const char *>(params);
    params_.insert(params_.end(), first, first + bytes);
    const auto member = static_cast<uint32_t>(members_++);
    for (uint32_t number = 0; number < tiles; ++number) tiles_.push_back({member, number});
    return true;
}

void MemberTableBuilder::arrange() {
    sections_.tiles = static_cast<uint32_t>(tiles_.size());
    place(sections_.starts, tiles_.size() * sizeof(MemberTile));
    place(sections_.members, params_.size());
}

void MemberTableBuilder::write(char *table) const {
    std::memcpy(table + sections_.starts, tiles_.data(), tiles_.size() * sizeof(MemberTile));
    std::memcpy(table + sections_.members, params_.data(), params_.size());
}

} // namespace ucd::UCD_GPU
