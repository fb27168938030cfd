#include "launch/reduce_table_builder.h"

#include <cstring>
#include <span>

namespace ucd::UCD_GPU {

bool ReduceTableBuilder::add(const ReductionNumbers &numbers) {
    const uint64_t tiles = (numbers.threads() + threads_per_block - 1) / threads_per_block;
    constexpr uint64_t max_tiles = uint64_t{1} << 22; // of a batch: 1 Gi threads
    if (tiles_.size() + tiles > max_tiles) return false;
    const auto member = static_cast<uint32_t>(members());
    if (own_ != nullptr)
        elements_.push_back(numbers.elements);
    else
        any_.push_back(numbers.any);
    for (uint32_t number = 0; number < tiles; ++number) tiles_.push_back({member, number});
    return true;
}

// Members of one type mostly follow each other.
void ReduceTableBuilder::refer_to(std::span<const ListsAt> lists) {
    for (const ListsAt &l : lists)
        if (used_.empty() || used_.back().lists != l.lists) used_.push_back(l);
}

void ReduceTableBuilder::arrange() {
    sections_.tiles = static_cast<uint32_t>(tiles_.size());
    place(sections_.starts, std::span(tiles_).size_bytes());
    place(sections_.members, std::span(elements_).size_bytes() + std::span(any_).size_bytes());
}

void ReduceTableBuilder::write(char *table) const {
    const auto put = [table](uint32_t at, const auto &entries) {
        if (!entries.empty())
            std::memcpy(table + at, entries.data(), std::span(entries).size_bytes());
    };
    put(sections_.starts, tiles_);
    put(sections_.members, elements_);
    put(sections_.members, any_);
}

} // namespace ucd::UCD_GPU
