// Builds the table that a batch's kernel reads from the batch's moves.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/table_launch.h"
#include "move.h"
#include "params/batch.h"
#include "params/table_shape.h"
#include "plan/move_range.h"

#include <array>
#include <bit>
#include <span>
#include <vector>

namespace ucd::UCD_GPU {

inline constexpr std::size_t max_batch_members = std::size_t{1}
                                                 << 24; // offsets in the table have 32 bits

// Whether the move may be launched in a batch.
inline bool joins_batches(const Move &move) {
    // The words of a member are counted in 32 bits.
    return move.op == Op::replace && move.limits.engine != Engine::dma &&
           move.length < max_positions;
}

// The number of vectors of the move, or one or two more.
inline uint64_t batch_vectors_of(const Move &move) {
    return move.length / vector_bytes + 2;
}

// The entries of a table at which a kernel's search for the member of a vector may begin.
enum class Starts : uint8_t {
    few,  // one to two members apart: quick to make, for a table that is read once
    many, // four for each member: with members of equal size, most vectors need no search
};

class BatchTableBuilder final : public TableBuilder {
public:
    // The size of the part of a table that is written member by member, for up to this many
    // members.
    static std::size_t bytes_of_members(std::size_t members);

    // Begins a new table. The members are written to `memory`, and as much of the rest as fits.
    // write() puts the whole table into memory, which may be the same.
    void begin(std::size_t members, std::span<char> memory);
    // Adds moves that join batches; at most max_batch_vectors in all.
    Status add(LaunchTarget &to, const Move &move, std::span<const MoveAddresses> at);
    // Completes the table. At least one move must have been added.
    void finish(Starts starts);

    std::size_t members() const { return members_; }
    uint64_t vectors() const { return vectors_; }
    void write(char *table) const override;

private:
    static constexpr uint32_t unknown_shape = UINT32_MAX;

    // Holds what members that differ only in their addresses have in common, if their words have
    // the same width.
    struct AlikeMembers {
        uint32_t word = 0; // 0: nothing is known yet
        uint32_t shape = 0;
        bool is_nest = true;
    };
    template <bool contiguous>
    Status add_each(LaunchTarget &to, const Move &move, std::span<const MoveAddresses> at);
    Status describe(LaunchTarget &to, const Move &move, uint32_t word, AlikeMembers &alike);
    Status add_interpreted(LaunchTarget &to, const Move &move, uint32_t word, BatchMember &member);
    // The index of the last plan's shape for words of this width.
    Status shape_of(LaunchTarget &to, uint32_t word, uint32_t &index) {
        index = shape_[static_cast<unsigned>(std::countr_zero(word))];
        return index != unknown_shape ? success : find_shape(to, word, index);
    }
    Status find_shape(LaunchTarget &to, uint32_t word, uint32_t &index);

    const GpuPlan *plan_ = nullptr;   // the plan of the last member
    std::array<uint32_t, 5> shape_{}; // its shapes, by the width of words

    std::span<char> memory_;
    std::size_t written_ = 0;   // bytes of the table that are in `memory`
    uint32_t *first_ = nullptr; // of each member: its first vector
    BatchMember *member_ = nullptr;
    std::size_t members_ = 0;
    uint64_t vectors_ = 0;
    uint64_t number_ = 0;          // identifies this table, for the plans' hints
    std::vector<uint32_t> starts_; // used if they did not fit in `memory`
    std::vector<TableShape> shapes_;
    std::vector<NestList> lists_;
};

} // namespace ucd::UCD_GPU
