// Moves data between two sides in host memory, within the call.
#pragma once

#include "host_lists.h"
#include "prepared/type_cache.h"
#include "transfer/check.h"
#include "transfer/context.h"

#include <span>

namespace ucd {

// Sets the plan and the elements that an executor needs for the move. They are made at the type's
// first use.
[[gnu::always_inline]] inline Status complete(CheckedMove &m, const Backend &backend,
                                              unsigned index) {
    UCD_TRY(plan_of(*m.type, backend, index, m.count > 1, m.plan));
    if (m.op != Op::replace) m.elements = &elements_of(*m.type);
    return success;
}
inline Status complete(CheckedMove &m, const Executor &executor) {
    return complete(m, *executor.backend, executor.index);
}
inline Status complete(CopyMove::Side &side, const Type &type, const Executor &executor) {
    return plan_of(type, *executor.backend, executor.index, side.count > 1, side.plan);
}

// ---- the first use of a type, which may be the only one -----------------------------------------
//
// A list of blocks can be moved by the lists that describe it, which takes less time than
// normalising it. This is done once for each type, counting duplicates as one type, and only if
// nothing has been derived from the type: for a type that is used again, a layout pays. The library
// guesses nothing else about repeated use.

// Moves one whole object of such a type in host memory. Returns false if it did nothing.
bool move_at_first_use(const CheckedMove &m);

// Same, for a device: returns the type that the device should move instead; null if this would not
// be faster.
ConstTypeOwner described_for_first_use(const CheckedMove &m);

inline bool may_be_first_use(const Type &type) {
    return type.cache.load(std::memory_order_acquire) == nullptr;
}

// ---- moves and copies ---------------------------------------------------------------------------

// Runs a move that is complete.
[[gnu::always_inline]] inline Status run_complete(Context &context, const Move &move) {
    Owner<Event> done; // stays null: the host's backend has finished on return
    return context.host().launch(0, std::span(&move, 1), done);
}

// Runs a move whose limits are set.
[[gnu::always_inline]] inline Status run_on_host(Context &context, CheckedMove &m) {
    if (may_be_first_use(*m.type)) [[unlikely]]
        if (move_at_first_use(m)) return success;
    UCD_TRY(complete(m, context.host(), Context::host_index));
    return run_complete(context, m);
}

// One side of a copy as a pack or an unpack; the packed buffer is not set.
CheckedMove move_of_side(const Type &type, const CopyMove::Side &side, uint64_t length,
                         Direction direction, Op op, const Limits &limits);

// One side of a copy for the functions of host_lists.h.
HostStream stream_of(const Type &type, const CopyMove::Side &side);

// Runs a copy through a chunk that stays in the cache. For reductions, the elements of both streams
// must match; conversions are run by convert_on_host().
Status copy_on_host(Context &context, const CheckedCopy &c, Op op, const Limits &limits);

} // namespace ucd
