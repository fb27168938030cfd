#include "launch/batch_table_builder.h"

#include "plan/lists.h"
#include "plan/make_table_shape.h"
#include "tuning.h"

#include <atomic>
#include <bit>
#include <cstring>

namespace ucd::UCD_GPU {
namespace {

// A job, its addresses and its word.
struct MemberPlace {
    const GpuPlan &plan;
    uintptr_t typed, packed;
    uint32_t word;

    explicit MemberPlace(const Job &job)
        : plan(static_cast<const GpuPlan &>(*job.plan)),
          typed(reinterpret_cast<uintptr_t>(job.typed) +
                static_cast<uintptr_t>(plan.host.layout.start)),
          packed(reinterpret_cast<uintptr_t>(job.packed)) {
        // Of one block, both sides may be unaligned alike.
        if (plan.host.contiguous) {
            typed += job.offset;
            word = common_alignment(typed - packed);
        } else {
            word = common_alignment(plan.host.word | typed | (packed - job.offset));
        }
    }
};

// Lists stay where they are, since members share them: only strides are skipped.
uint64_t skipped_strides(const Shape &shape, uint64_t offset) {
    const bool skips = offset > 0 && shape.level[0].kind == LevelKind::strided;
    return skips ? skipped_bytes(shape, offset) : 0;
}

constexpr unsigned index_bits = 24; // of a plan's hint

} // namespace

// The plan remembers which of the shapes is its own, as long as no other table is built with it.
Status BatchTableBuilder::shape_of(const Submission &to, const GpuPlan &plan, uint32_t word,
                                   uint32_t &index) {
    const auto shift = static_cast<unsigned>(std::countr_zero(word));
    auto &hint = plan.batch_shape[shift];
    const uint64_t hinted = hint.load(std::memory_order_relaxed);
    if (hinted >> index_bits == number_) {
        index = static_cast<uint32_t>(hinted & ((uint64_t{1} << index_bits) - 1));
        return success;
    }
    uint64_t address = 0;
    if (plan.lists != nullptr) UCD_TRY(to.use(*plan.lists, address, &used_));
    const TableShape shape = nest_shape(plan.host, word, address, lists_);
    index = static_cast<uint32_t>(shapes_.size());
    shapes_.push_back(shape);
    if (index >> index_bits == 0)
        hint.store(number_ << index_bits | index, std::memory_order_relaxed);
    return success;
}

Status BatchTableBuilder::add(const Submission &to, const Job &job) {
    const MemberPlace place(job);
    const LayoutPlan &plan = place.plan.host;
    if (to.mode == LaunchMode::capture && !place.plan.is_prepared(to.device.index()))
        return not_prepared();
    const Vectors vectors(place.packed, job.length);
    BatchMember member{};
    member.packed = vectors.start;
    member.head = vectors.head;
    member.tail = vectors.tail;
    member.typed = place.typed;
    const uint64_t skipped = plan.contiguous ? 0 : skipped_strides(plan.shape, job.offset);
    if (plan.contiguous) {
        member.typed -= vectors.head;
        UCD_TRY(shape_of(to, place.plan, place.word, member.shape));
    } else if (fits_nest(plan.shape, skipped, job, place.word)) {
        NestList unused{};
        if (skipped > 0) (void)skip_children(plan.shape.level[0], job.offset, member.typed, unused);
        const auto position =
            static_cast<int64_t>(job.offset - skipped) - static_cast<int64_t>(vectors.head);
        member.first_word = static_cast<uint32_t>(position >> std::countr_zero(place.word));
        UCD_TRY(shape_of(to, place.plan, place.word, member.shape));
    } else {
        GpuPlan::Interpreter &interpreter = place.plan.interpreter();
        uint64_t address = 0;
        UCD_TRY(to.use(interpreter.lists, address, &used_));
        const uint64_t position = job.offset - vectors.head;
        const TableShape shape = interpreter_shape(interpreter.host, place.word, address, position);
        member.shape = static_cast<uint32_t>(shapes_.size());
        shapes_.push_back(shape);
    }
    first_[members_] = static_cast<uint32_t>(vectors_);
    member_[members_++] = member;
    vectors_ += vectors.count;
    sections_.neighbours &= job.packed_kind != MemoryKind::pinned;
    return success;
}

std::size_t BatchTableBuilder::bytes_of_members(std::size_t members) {
    return whole_vectors((members + 1) * sizeof(uint32_t)) + members * sizeof(BatchMember);
}

void BatchTableBuilder::begin(std::size_t members, char *memory) {
    static std::atomic<uint64_t> tables{0};
    number_ = ++tables;
    used_.clear();
    starts_.clear();
    shapes_.clear();
    lists_.clear();
    sections_ = {};
    sections_.neighbours = 1;
    members_ = 0;
    vectors_ = 0;
    bytes_ = 0;
    uint32_t first;
    place(first, (members + 1) * sizeof(uint32_t));
    place(sections_.members, members * sizeof(BatchMember));
    members_bytes_ = bytes_;
    memory_ = memory;
    first_ = reinterpret_cast<uint32_t *>(memory);
    member_ = reinterpret_cast<BatchMember *>(memory + sections_.members);
}

void BatchTableBuilder::finish(TableUse use) {
    first_[members_] = static_cast<uint32_t>(vectors_);
    // About four starts to a member: most vectors of members that are alike need no search. A table
    // that is read once is not worth that many.
    const uint64_t starts = members_ * (use == TableUse::once ? 1 : 4);
    const uint64_t each = std::max<uint64_t>(vectors_ / starts, 1);
    sections_.vectors = static_cast<uint32_t>(vectors_);
    sections_.granule = static_cast<uint8_t>(std::bit_width(each) - 1);
    fill_starts(std::span(first_, members_ + 1), sections_.granule, starts_);
    // Several vectors per thread where there are more than the device has threads.
    sections_.per_thread = vectors_ >= tuning.many_threads ? max_batch_vectors_per_thread : 1;
    const uint32_t tile = threads_per_block * sections_.per_thread;
    sections_.tiles = (sections_.vectors + tile - 1) / tile;
    place(sections_.starts, std::span(starts_).size_bytes());
    place(sections_.shapes, std::span(shapes_).size_bytes());
    place(sections_.lists, std::span(lists_).size_bytes());
}

void BatchTableBuilder::write(char *table) const {
    if (table != memory_) std::memcpy(table, memory_, members_bytes_);
    const auto put = [table](uint32_t at, const auto &entries) {
        std::memcpy(table + at, entries.data(), std::span(entries).size_bytes());
    };
    put(sections_.starts, starts_);
    put(sections_.shapes, shapes_);
    if (!lists_.empty()) put(sections_.lists, lists_);
}

} // namespace ucd::UCD_GPU
