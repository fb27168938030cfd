// The packed data of a collective call.
#pragma once

#include "preload/participation.h"
#include "preload/planned_moves.h"

#include <memory>
#include <type_traits>
#include <vector>

namespace ucd_mpi {

// Data for or from one process: `count` items, `repeated` times in a row.
struct ProcessBlock {
    const void *buffer = nullptr;
    MPI_Count count = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    int repeated = 1;
};

// Decides whether packing some blocks is worthwhile.
class BlocksInView {
public:
    explicit BlocksInView(ExpectedUse use) : use_(use) {}
    void add(const ProcessBlock &block);
    bool worth_packing() const;

private:
    bool take(const ProcessBlock &block);

    ExpectedUse use_;
    bool taken_ = true;
    bool gain_ = false;
};

// Packed blocks, one after the other. Empty if an allocation failed or the blocks cannot be packed.
class PackedBlocks {
public:
    PackedBlocks() = default;
    // The blocks are worth packing, or some are in device memory and have the route.
    PackedBlocks(Call call, const std::vector<ProcessBlock> &blocks, DeviceRoute route);

    explicit operator bool() const { return memory_.data() != nullptr; }
    // Some block has a negative count, or a type that this library cannot convert.
    bool has_invalid() const { return has_invalid_; }
    std::uintptr_t bytes() const { return bytes_; }
    void *memory() const { return memory_.data(); }
    // The datatype of one packed item: of the given block, or of the first block that has data.
    // MPI_DATATYPE_NULL if the block has none.
    MPI_Datatype item_datatype(std::size_t block) const;
    MPI_Datatype item_datatype() const;
    // True if the items of all blocks are packed as predefined types.
    bool has_predefined_items() const;
    std::uintptr_t offset(std::size_t block) const { return parts_[block].offset; }

    void add_all(std::vector<PackedRange> &ranges) const;
    // Adds the part of one process, whether there is a block for each process or one block that is
    // repeated.
    void add_one(std::size_t process, std::vector<PackedRange> &ranges) const;

private:
    struct Part {
        MessageBuffer typed; // empty if the block has no data
        std::uintptr_t offset = 0;
    };

    void *at(std::uintptr_t offset) const;
    void add(const Part &part, std::vector<PackedRange> &ranges) const;

    std::vector<Part> parts_;
    int repeated_ = 1;
    bool has_invalid_ = false;
    std::uintptr_t bytes_ = 0;
    PackedMemory memory_;
};

// Packed blocks with the argument arrays that MPI reads until the call is complete.
struct PackedSide {
    PackedBlocks blocks;
    std::vector<int> displs;
    std::vector<MPI_Aint> address_displs;
    std::vector<MPI_Datatype> datatypes;

    explicit operator bool() const { return static_cast<bool>(blocks); }
    template <class Displ>
    std::vector<Displ> &displs_of() {
        if constexpr (std::is_same_v<Displ, int>)
            return displs;
        else
            return address_displs;
    }
    template <class Displ>
    const std::vector<Displ> &displs_of() const {
        return const_cast<PackedSide *>(this)->displs_of<Displ>();
    }
};

struct CollectiveData {
    PackedSide sent, received; // a side is empty if MPI moves it
    Participation participation;
    bool on_device = false; // some of the data is in device memory
    bool failed = false;    // MPI cannot move the data, and neither can this library

    bool has_predefined_items() const;
    // What is packed before MPI is called: the data to send, and the part of the receive buffer
    // that MPI may read or leave unchanged.
    std::vector<PackedRange> to_pack() const;
    std::vector<PackedRange> to_unpack() const;
    // Pack or unpack that. Return statuses of ucd.h.
    int pack() const { return move_once(PlannedDirection::pack, to_pack()); }
    int unpack() const { return move_once(PlannedDirection::unpack, to_unpack()); }
};
using CollectivePtr = std::unique_ptr<CollectiveData>;

} // namespace ucd_mpi
