#include "preload/collective_data.h"

namespace ucd_mpi {

void BlocksInView::add(const ProcessBlock &block) {
    if (block.count != 0 && block.repeated != 0) taken_ = take(block) && taken_;
}

bool BlocksInView::take(const ProcessBlock &block) {
    MPI_Count count = 0;
    if (block.count < 0 || __builtin_mul_overflow(block.count, block.repeated, &count))
        return false;
    KnownType *const known = find_known(block.datatype, count, use_);
    if (known == nullptr || known->has_no_address(block.buffer) ||
        known->item_datatype() == MPI_DATATYPE_NULL)
        return false;
    std::uintptr_t bytes = 0;
    if (__builtin_mul_overflow(known->size(), static_cast<std::uintptr_t>(count), &bytes))
        return false;
    gain_ |= block.count > 1 || !known->facts().one_is_contiguous;
    return known->gains().collective.contain(bytes / static_cast<std::uintptr_t>(block.repeated));
}

namespace {

// Types without data are not read.
bool has_no_data(MPI_Datatype datatype) {
    MPI_Count size = -1;
    return was_committed(datatype) && PMPI_Type_size_x(datatype, &size) == MPI_SUCCESS && size == 0;
}

} // namespace

bool BlocksInView::worth_packing() const {
    return taken_ && gain_;
}

PackedBlocks::PackedBlocks(Call call, const std::vector<ProcessBlock> &blocks, DeviceRoute route)
    : parts_(blocks.size()) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const ProcessBlock &block = blocks[i];
        parts_[i].offset = bytes_;
        MPI_Count items = 0;
        if (block.count == 0) continue;
        if (__builtin_mul_overflow(block.count, block.repeated, &items)) return;
        KnownType *const known = find_to_pack(block.datatype, items);
        if (known == nullptr && items > 0 && has_no_data(block.datatype)) continue;
        has_invalid_ = known == nullptr;
        if (has_invalid_) return;
        parts_[i].typed = MessageBuffer(call, known, block.buffer, items, route);
        if (__builtin_add_overflow(bytes_, parts_[i].typed.bytes(), &bytes_)) return;
        repeated_ = block.repeated;
    }
    memory_ = PackedMemory(bytes_, route);
    if (memory_.on_device()) count_on_device(call);
}

MPI_Datatype PackedBlocks::item_datatype(std::size_t block) const {
    const MessageBuffer &typed = parts_[block].typed;
    return typed ? typed.item_datatype() : MPI_DATATYPE_NULL;
}

MPI_Datatype PackedBlocks::item_datatype() const {
    std::size_t block = 0;
    while (!parts_[block].typed) ++block; // some block has data, or packing would not be worthwhile
    return item_datatype(block);
}

bool PackedBlocks::has_predefined_items() const {
    for (const Part &part : parts_)
        if (part.typed && !part.typed.item_is_predefined()) return false;
    return true;
}

void *PackedBlocks::at(std::uintptr_t offset) const {
    return static_cast<std::byte *>(memory_.data()) + offset;
}

void PackedBlocks::add(const Part &part, std::vector<PackedRange> &ranges) const {
    if (part.typed) ranges.push_back({&part.typed, at(part.offset), 0, part.typed.bytes()});
}

void PackedBlocks::add_all(std::vector<PackedRange> &ranges) const {
    for (const Part &part : parts_) add(part, ranges);
}

void PackedBlocks::add_one(std::size_t process, std::vector<PackedRange> &ranges) const {
    if (parts_.size() != 1) {
        add(parts_[process], ranges);
        return;
    }
    const std::uintptr_t bytes = bytes_ / static_cast<std::uintptr_t>(repeated_);
    const std::uintptr_t offset = bytes * process;
    ranges.push_back({&parts_.front().typed, at(offset), offset, bytes});
}

bool CollectiveData::has_predefined_items() const {
    return (!sent || sent.blocks.has_predefined_items()) &&
           (!received || received.blocks.has_predefined_items());
}

std::vector<PackedRange> CollectiveData::to_pack() const {
    std::vector<PackedRange> ranges;
    if (sent) sent.blocks.add_all(ranges);
    if (!received) return ranges;
    if (participation.kept == Participation::Kept::all)
        received.blocks.add_all(ranges);
    else if (participation.kept == Participation::Kept::own)
        received.blocks.add_one(static_cast<std::size_t>(participation.rank), ranges);
    return ranges;
}

std::vector<PackedRange> CollectiveData::to_unpack() const {
    std::vector<PackedRange> ranges;
    if (received) received.blocks.add_all(ranges);
    return ranges;
}

} // namespace ucd_mpi
