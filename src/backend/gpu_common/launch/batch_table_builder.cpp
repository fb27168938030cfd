#include "launch/batch_table_builder.h"

#include "launch/launch_context.h"
#include "plan/lists.h"
#include "plan/make_table_shape.h"
#include "tuning.h"

#include <atomic>
#include <bit>
#include <cstring>

namespace ucd::UCD_GPU {
namespace {

// The number of strides to skip. Lists are never skipped, because members share them.
uint64_t skipped_strides(const Shape &shape, uint64_t offset) {
    const bool skips = offset > 0 && shape.level[0].kind == LevelKind::strided;
    return skips ? skipped_bytes(shape, offset) : 0;
}

constexpr unsigned index_bits = 24; // bits for the shape's index in a plan's hint

} // namespace

// Each plan has a hint with the index of its shape, which is valid until another table is built
// with the plan.
Status BatchTableBuilder::find_shape(LaunchTarget &to, uint32_t word, uint32_t &index) {
    const auto shift = static_cast<unsigned>(std::countr_zero(word));
    auto &hint = plan_->batch_shape[shift];
    const uint64_t hinted = hint.load(std::memory_order_relaxed);
    if (hinted >> index_bits == number_) {
        index = static_cast<uint32_t>(hinted & ((uint64_t{1} << index_bits) - 1));
    } else {
        uint64_t address = 0;
        UCD_TRY(use_lists(to, *plan_, address));
        const TableShape shape = nest_shape(plan_->host, word, address, lists_);
        index = static_cast<uint32_t>(shapes_.size());
        shapes_.push_back(shape);
        if (index >> index_bits == 0)
            hint.store(number_ << index_bits | index, std::memory_order_relaxed);
    }
    shape_[shift] = index;
    return success;
}

Status BatchTableBuilder::describe(LaunchTarget &to, const Move &move, uint32_t word,
                                   AlikeMembers &alike) {
    const LayoutPlan &plan = plan_->host;
    alike.word = word;
    alike.is_nest =
        plan.contiguous ||
        fits_nest(plan.shape, skipped_strides(plan.shape, move.typed().offset), move.range(), word);
    return alike.is_nest ? shape_of(to, word, alike.shape) : success;
}

Status BatchTableBuilder::add_interpreted(LaunchTarget &to, const Move &move, uint32_t word,
                                          BatchMember &member) {
    Interpreter &interpreter = plan_->interpreter();
    uint64_t address = 0;
    UCD_TRY(to.use(interpreter.lists, address));
    const uint64_t position = move.typed().offset - member.head;
    const TableShape shape = interpreter_shape(interpreter.host, word, address, position);
    member.first_word = 0;
    member.shape = static_cast<uint32_t>(shapes_.size());
    shapes_.push_back(shape);
    return success;
}

template <bool contiguous>
Status BatchTableBuilder::add_each(LaunchTarget &to, const Move &move,
                                   std::span<const MoveAddresses> at) {
    const LayoutPlan &plan = plan_->host;
    const bool pack = move.direction() == Direction::pack;
    const uint64_t offset = move.typed().offset, packed_offset = move.packed().offset;
    const auto start = static_cast<uintptr_t>(plan.layout.start) + (contiguous ? offset : 0);
    const uint64_t skipped = contiguous ? 0 : skipped_strides(plan.shape, offset);
    uintptr_t ahead = 0; // from the first child to the one that the members begin with
    NestList unused{};
    if (skipped > 0) (void)skip_children(plan.shape.level[0], offset, ahead, unused);
    const auto in_stream = static_cast<int64_t>(offset - skipped);
    AlikeMembers alike;
    BatchMember *next = member_ + members_;
    uint32_t *first = first_ + members_;
    uint64_t all_vectors = vectors_;
    for (const MoveAddresses &each : at) {
        const auto from = reinterpret_cast<uintptr_t>(each.from),
                   to_there = reinterpret_cast<uintptr_t>(each.to);
        const uintptr_t packed = (pack ? to_there : from) + packed_offset;
        const uintptr_t typed = (pack ? from : to_there) + start;
        // Words of consecutive bytes are as wide as the relative alignment of the sides allows,
        // even if both are unaligned.
        const uint32_t word =
            common_alignment(contiguous ? typed - packed : plan.word | typed | (packed - offset));
        if (word != alike.word) UCD_TRY(describe(to, move, word, alike));
        const Vectors vectors(packed, move.length);
        BatchMember &member = *next++;
        member.packed = vectors.start;
        member.head = vectors.head;
        member.tail = vectors.tail;
        member.shape = alike.shape;
        if constexpr (contiguous) {
            member.typed = typed - vectors.head;
            member.first_word = 0;
        } else if (alike.is_nest) {
            member.typed = typed + ahead;
            member.first_word = static_cast<uint32_t>((in_stream - int64_t{vectors.head}) >>
                                                      std::countr_zero(word));
        } else {
            member.typed = typed;
            UCD_TRY(add_interpreted(to, move, word, member));
        }
        *first++ = static_cast<uint32_t>(all_vectors);
        all_vectors += vectors.count;
    }
    members_ += at.size();
    vectors_ = all_vectors;
    return success;
}

Status BatchTableBuilder::add(LaunchTarget &to, const Move &move,
                              std::span<const MoveAddresses> at) {
    if (at.empty()) return success;
    const auto &plan = plan_of(move.typed());
    if (&plan != plan_) {
        plan_ = &plan;
        for (uint32_t &shape : shape_) shape = unknown_shape;
    }
    sections_.neighbours &= move.packed_kind() != MemoryKind::pinned;
    return plan.host.contiguous ? add_each<true>(to, move, at) : add_each<false>(to, move, at);
}

std::size_t BatchTableBuilder::bytes_of_members(std::size_t members) {
    return whole_vectors((members + 1) * sizeof(uint32_t)) + members * sizeof(BatchMember);
}

void BatchTableBuilder::begin(std::size_t members, std::span<char> memory) {
    static std::atomic<uint64_t> tables{0};
    number_ = ++tables;
    shapes_.clear();
    lists_.clear();
    sections_ = {};
    sections_.neighbours = 1;
    plan_ = nullptr;
    members_ = 0;
    vectors_ = 0;
    bytes_ = 0;
    uint32_t first;
    place(first, (members + 1) * sizeof(uint32_t));
    place(sections_.members, members * sizeof(BatchMember));
    memory_ = memory;
    first_ = reinterpret_cast<uint32_t *>(memory.data());
    member_ = reinterpret_cast<BatchMember *>(memory.data() + sections_.members);
}

void BatchTableBuilder::finish(Starts starts_wanted) {
    first_[members_] = static_cast<uint32_t>(vectors_);
    const uint64_t each =
        starts_wanted == Starts::few ? 2 * vectors_ / members_ : vectors_ / (4 * members_);
    sections_.vectors = static_cast<uint32_t>(vectors_);
    sections_.granule = static_cast<uint8_t>(std::bit_width(std::max<uint64_t>(each, 1)) - 1);
    const std::span<const uint32_t> first(first_, members_ + 1);
    const std::size_t starts = starts_needed(first, sections_.granule);
    written_ = bytes_;
    place(sections_.starts, starts * sizeof(uint32_t));
    if (bytes_ <= memory_.size()) {
        written_ = bytes_;
        fill_starts(first, sections_.granule,
                    reinterpret_cast<uint32_t *>(memory_.data() + sections_.starts));
        starts_.clear();
    } else {
        starts_.resize(starts);
        fill_starts(first, sections_.granule, starts_.data());
    }
    // A thread moves several vectors if there are more vectors than threads on the device.
    sections_.per_thread = vectors_ >= tuning.many_threads ? max_batch_vectors_per_thread : 1;
    const uint32_t tile = threads_per_block * sections_.per_thread;
    sections_.tiles = (sections_.vectors + tile - 1) / tile;
    place(sections_.shapes, std::span(shapes_).size_bytes());
    place(sections_.lists, std::span(lists_).size_bytes());
}

void BatchTableBuilder::write(char *table) const {
    if (table != memory_.data()) std::memcpy(table, memory_.data(), written_);
    const auto put = [table](uint32_t at, const auto &entries) {
        std::memcpy(table + at, entries.data(), std::span(entries).size_bytes());
    };
    if (!starts_.empty()) put(sections_.starts, starts_);
    put(sections_.shapes, shapes_);
    if (!lists_.empty()) put(sections_.lists, lists_);
}

} // namespace ucd::UCD_GPU
