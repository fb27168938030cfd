// The table that a kernel for moves reads, made of a batch's moves.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/submission.h"
#include "launch/table_builder.h"
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

// Whether the move is for batches of moves.
inline bool joins_batches(const Move &move) {
    // Words of one block are counted in 32 bits.
    return move.op == Op::replace && move.limits.engine != Engine::dma &&
           move.length < max_positions;
}

// Vectors of the move, or one or two more.
inline uint64_t batch_vectors_of(const Move &move) {
    return move.length / vector_bytes + 2;
}

// Where a kernel's search for the member of a vector may begin.
enum class Starts : uint8_t {
    few,  // one to two members: little to make, for a table that is read once
    many, // four to a member: most vectors of members that are alike need no search
};

class BatchTableBuilder final : public TableBuilder {
public:
    // The part of a table that is written member by member, for at most so many members.
    static std::size_t bytes_of_members(std::size_t members);

    // What was built before is forgotten. The members are written to `memory`, and as much of the
    // rest as has room; write() puts all of it into a table, which may be there.
    void begin(std::size_t members, std::span<char> memory);
    // Moves that join batches. Up to max_batch_vectors in all.
    Status add(const Submission &to, const Move &move, std::span<const MoveAddresses> at);
    // At least one was added.
    void finish(Starts starts);

    std::size_t members() const { return members_; }
    uint64_t vectors() const { return vectors_; }
    void write(char *table) const override;

private:
    static constexpr uint32_t unknown_shape = UINT32_MAX;

    // Adds members, of which `describe` says how each one's typed side is walked.
    template <class Describe>
    Status add_each(const Move &move, std::span<const MoveAddresses> at, Describe describe) {
        for (const MoveAddresses &each : at) {
            const auto packed = reinterpret_cast<uintptr_t>(each.packed);
            const Vectors vectors(packed, move.length);
            BatchMember &member = member_[members_];
            member.packed = vectors.start;
            member.head = vectors.head;
            member.tail = vectors.tail;
            UCD_TRY(describe(reinterpret_cast<uintptr_t>(each.typed), packed, member));
            first_[members_++] = static_cast<uint32_t>(vectors_);
            vectors_ += vectors.count;
        }
        return success;
    }
    Status describe_nest(const Submission &to, const Move &move, uintptr_t typed, uintptr_t packed,
                         BatchMember &member);
    // Of the last plan, for words of this width.
    Status shape_of(const Submission &to, uint32_t word, uint32_t &index) {
        index = shape_[static_cast<unsigned>(std::countr_zero(word))];
        return index != unknown_shape ? success : find_shape(to, word, index);
    }
    Status find_shape(const Submission &to, uint32_t word, uint32_t &index);

    const GpuPlan *plan_ = nullptr;   // the last one
    std::array<uint32_t, 5> shape_{}; // its, by the width of words

    std::span<char> memory_;
    std::size_t written_ = 0;   // of the table, to the memory
    uint32_t *first_ = nullptr; // of each member's vectors
    BatchMember *member_ = nullptr;
    std::size_t members_ = 0;
    uint64_t vectors_ = 0;
    uint64_t number_ = 0;          // of this table among all
    std::vector<uint32_t> starts_; // if they had no room
    std::vector<TableShape> shapes_;
    std::vector<NestList> lists_;
};

} // namespace ucd::UCD_GPU
