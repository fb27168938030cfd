// Moves data between two sides in host memory, within the call.
#pragma once

#include "host_functions.h"
#include "prepared/type_cache.h"
#include "transfer/check.h"
#include "transfer/context.h"

namespace ucd {

// Sets the plans and the elements that executors need for the sides of a move. They are made at the
// types' first use.
Status complete(CheckedMove &m, const Executor &from, const Executor &to);
inline Status complete(CheckedMove &m, const Executor &executor) {
    return complete(m, executor, executor);
}
// Same, for a pack or an unpack.
[[gnu::always_inline]] inline Status complete(CheckedMove &m, Direction direction,
                                              const Executor &executor) {
    const bool pack = direction == Direction::pack;
    const Type &type = pack ? *m.from_type : *m.to_type;
    Side &side = pack ? m.from : m.to;
    UCD_TRY(plan_of(type, *executor.backend, executor.index, side.count > 1, side.plan));
    if (m.op != Op::replace) m.elements = &elements_of(type);
    return success;
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
    return type.state.cache.load(std::memory_order_acquire) == nullptr;
}

// ---- moves --------------------------------------------------------------------------------------

// One side of a copy for the functions of host_functions.h.
HostStream stream_of(const Type &type, const Side &side);

// Runs a copy or a conversion: as a pack or an unpack, in one pass, or through a chunk that stays
// in the cache. For reductions, the elements of both streams must match.
Status copy_on_host(Context &context, const CheckedMove &m);

// Runs a pack or an unpack whose limits are set. The direction is passed, because small calls would
// notice that it has to be found.
[[gnu::always_inline]] inline Status run_on_host(Context &context, Direction direction,
                                                 CheckedMove &m) {
    if (may_be_first_use(direction == Direction::pack ? *m.from_type : *m.to_type)) [[unlikely]]
        if (move_at_first_use(m)) return success;
    UCD_TRY(complete(m, direction, host_executor(context)));
    run_move(m);
    return success;
}

// Runs a move whose limits are set.
[[gnu::always_inline]] inline Status run_on_host(Context &context, CheckedMove &m) {
    return m.is_copy() ? copy_on_host(context, m) : run_on_host(context, m.direction(), m);
}

} // namespace ucd
