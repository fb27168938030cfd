#include "types/lists.h"

#include "support/list_memory.h"

namespace ucd {
namespace {

// Type::list_state is the number of holders of the lists, and these flags.
constexpr uint32_t to_be_freed = uint32_t{1} << 29; // free them after the last drop
constexpr uint32_t lengths_too = to_be_freed << 1;
constexpr uint32_t gone = lengths_too << 1;

// If another thread has taken hold of the lists in the meantime, that thread calls this again.
void free_if_unused(const Type &type, uint32_t state) {
    if ((state & to_be_freed) == 0 || (state & gone) != 0 || state % to_be_freed != 0) return;
    if (!type.list_state.compare_exchange_strong(state, state | gone, std::memory_order_acq_rel))
        return;
    auto &lists = const_cast<Type &>(type);
    keep_list(lists.displs);
    if ((state & lengths_too) != 0) keep_list(lists.blocklengths);
}

} // namespace

bool hold_lists(const Type &type) {
    const uint32_t state = type.list_state.fetch_add(1, std::memory_order_acquire);
    if ((state & gone) == 0) return true;
    type.list_state.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

void drop_lists(const Type &type) {
    free_if_unused(type, type.list_state.fetch_sub(1, std::memory_order_acq_rel) - 1);
}

void give_up_lists(const Type &type, bool lengths) {
    const uint32_t bits = to_be_freed | (lengths ? lengths_too : 0);
    free_if_unused(type, type.list_state.fetch_or(bits, std::memory_order_acq_rel) | bits);
}

uint64_t list_bytes(const Type &type) {
    const bool held = hold_lists(type);
    const bool has_lengths =
        held || (type.list_state.load(std::memory_order_acquire) & lengths_too) == 0;
    const uint64_t bytes =
        (held ? bytes_of(type.displs) : 0) + (has_lengths ? bytes_of(type.blocklengths) : 0);
    if (held) drop_lists(type);
    return bytes;
}

TypeLists::TypeLists(const Type &type) : type_(type), held_(hold_lists(type)) {
    if (held_) {
        displs_ = type.displs;
        lengths_ = type.blocklengths;
        unit_ = type.unit;
        return;
    }
    const bool has_lengths = (type.list_state.load(std::memory_order_acquire) & lengths_too) == 0;
    const CachedOnType &cache = *type.cache.load(std::memory_order_acquire);
    cache.list_blocks(type, !has_lengths, listed_);
    displs_ = listed_.displs;
    lengths_ = has_lengths ? std::span<const int64_t>(type.blocklengths) : listed_.lengths;
    base_ = type.stride;
}

TypeLists::~TypeLists() {
    if (held_) drop_lists(type_);
    keep_list(listed_.displ_memory);  // performance only: reuses the memory instead of freeing it
    keep_list(listed_.length_memory); // performance only: as above
}

} // namespace ucd
