#include "preload/collective_data.h"

namespace ucd_mpi {
namespace {

std::byte *at(const PackedMemory &memory, std::uintptr_t offset) {
    return static_cast<std::byte *>(memory.data()) + offset;
}

} // namespace

void BlocksInView::add(const Block &block) {
    if (block.count != 0 && block.repeated != 0) taken_ = take(block) && taken_;
}

bool BlocksInView::take(const Block &block) {
    MPI_Count count = 0;
    if (block.count < 0 || __builtin_mul_overflow(block.count, block.repeated, &count))
        return false;
    KnownType *const known = find_known(block.datatype);
    if (known == nullptr || !known->is_taken(block.datatype, count, use_) ||
        known->has_no_address(block.buffer) || !known->may_be_collective() ||
        known->item_datatype() == MPI_DATATYPE_NULL)
        return false;
    std::uintptr_t bytes = 0;
    if (__builtin_mul_overflow(known->size(), static_cast<std::uintptr_t>(count), &bytes) ||
        __builtin_add_overflow(bytes_, bytes, &bytes_))
        return false;
    gain_ |= block.count > 1 || !known->one_is_contiguous();
    return bytes / static_cast<std::uintptr_t>(block.repeated) <= max_collective_bytes;
}

bool BlocksInView::worth_packing() const {
    return taken_ && gain_ && bytes_ >= min_collective_bytes;
}

PackedBlocks::PackedBlocks(Call call, const std::vector<Block> &blocks, const Device *device)
    : parts_(blocks.size()) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Block &block = blocks[i];
        parts_[i].offset = bytes_;
        MPI_Count items = 0;
        if (block.count == 0) continue;
        if (__builtin_mul_overflow(block.count, block.repeated, &items)) return;
        KnownType *const known = take_anyway(block.datatype, items);
        if (known == nullptr) return;
        if (known->size() == 0) continue;
        parts_[i].typed = TypedBuffer(call, known, block.buffer, items, device);
        if (__builtin_add_overflow(bytes_, parts_[i].typed.bytes(), &bytes_)) return;
        repeated_ = block.repeated;
    }
    memory_ = PackedMemory(bytes_, device);
}

MPI_Datatype PackedBlocks::item_datatype(std::size_t block) const {
    const TypedBuffer &typed = parts_[block].typed;
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

int PackedBlocks::pack() const {
    for (const Part &part : parts_) {
        const int rc = part.typed ? part.typed.pack(at(memory_, part.offset)) : UCD_SUCCESS;
        if (rc != UCD_SUCCESS) return rc;
    }
    return UCD_SUCCESS;
}

int PackedBlocks::pack_one(std::size_t process) const {
    if (parts_.size() != 1) {
        const Part &part = parts_[process];
        return part.typed ? part.typed.pack(at(memory_, part.offset)) : UCD_SUCCESS;
    }
    const std::uintptr_t bytes = bytes_ / static_cast<std::uintptr_t>(repeated_);
    const std::uintptr_t offset = bytes * process;
    return parts_.front().typed.pack(at(memory_, offset), offset, bytes);
}

int PackedBlocks::unpack() const {
    for (const Part &part : parts_) {
        if (!part.typed) continue;
        const int rc = part.typed.unpack(at(memory_, part.offset), part.typed.bytes());
        if (rc != UCD_SUCCESS) return rc;
    }
    return UCD_SUCCESS;
}

bool CollectiveData::has_predefined_items() const {
    return (!sent || sent.blocks.has_predefined_items()) &&
           (!received || received.blocks.has_predefined_items());
}

int CollectiveData::pack() const {
    const int rc = sent ? sent.blocks.pack() : UCD_SUCCESS;
    if (rc != UCD_SUCCESS || !received) return rc;
    switch (participation.kept) {
    case Participation::Kept::all: return received.blocks.pack();
    case Participation::Kept::own:
        return received.blocks.pack_one(static_cast<std::size_t>(participation.rank));
    default: return UCD_SUCCESS;
    }
}

} // namespace ucd_mpi
