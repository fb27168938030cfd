#include "types/lists.h"

#include "support/list_memory.h"

namespace ucd {
namespace {

// BlockLists::state_ is the number of holders of the lists, and these flags.
constexpr uint32_t to_be_freed = uint32_t{1} << 29; // free them after the last drop
constexpr uint32_t lengths_too = to_be_freed << 1;
constexpr uint32_t gone = lengths_too << 1;

} // namespace

BlockLists::~BlockLists() {
    keep_list(displs);
    keep_list(lengths);
}

// If somebody has come to hold them since, that one calls this again.
void BlockLists::free_if_unused(uint32_t state) {
    if ((state & to_be_freed) == 0 || (state & gone) != 0 || state % to_be_freed != 0) return;
    if (!state_.compare_exchange_strong(state, state | gone, std::memory_order_acq_rel)) return;
    keep_list(displs);
    if ((state & lengths_too) != 0) keep_list(lengths);
}

bool BlockLists::hold() {
    const uint32_t state = state_.fetch_add(1, std::memory_order_acquire);
    if ((state & gone) == 0) return true;
    state_.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

void BlockLists::drop() {
    free_if_unused(state_.fetch_sub(1, std::memory_order_acq_rel) - 1);
}

void BlockLists::give_up(bool with_lengths) {
    const uint32_t bits = to_be_freed | (with_lengths ? lengths_too : 0);
    free_if_unused(state_.fetch_or(bits, std::memory_order_acq_rel) | bits);
}

bool BlockLists::gives_up_lengths() const {
    return (state_.load(std::memory_order_acquire) & lengths_too) != 0;
}

uint64_t list_bytes(const Type &type) {
    BlockLists &lists = type.lists;
    const bool held = lists.hold();
    const bool has_lengths = held || !lists.gives_up_lengths();
    const uint64_t bytes =
        (held ? bytes_of(lists.displs) : 0) + (has_lengths ? bytes_of(lists.lengths) : 0);
    if (held) lists.drop();
    return bytes;
}

TypeLists::TypeLists(const Type &type) : type_(type), held_(type.lists.hold()) {
    if (held_) {
        displs_ = type.lists.displs;
        lengths_ = type.lists.lengths;
        unit_ = type.unit;
        return;
    }
    const bool has_lengths = !type.lists.gives_up_lengths();
    const CachedOnType &cache = *type.cache.load(std::memory_order_acquire);
    cache.list_blocks(type, !has_lengths, listed_);
    displs_ = listed_.displs;
    lengths_ = has_lengths ? std::span<const int64_t>(type.lists.lengths) : listed_.lengths;
    base_ = type.stride;
}

TypeLists::~TypeLists() {
    if (held_) type_.lists.drop();
    keep_list(listed_.displ_memory);  // performance only: reuses the memory instead of freeing it
    keep_list(listed_.length_memory); // performance only: as above
}

} // namespace ucd
