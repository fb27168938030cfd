// A move of one whole object whose type the host has moved before. It needs few checks, and nothing
// is made for it.
#pragma once

#include "host_functions.h"
#include "prepared/type_cache.h"
#include "transfer/check.h"
#include "transfer/context.h"

namespace ucd {

// A plan by which the host moves one whole object of a type; null for any other move.
struct KnownMove {
    const KernelPlan *plan = nullptr;
    const Type *type = nullptr;
};

// The plan of a type, which is no handle to be looked up.
[[gnu::always_inline]] inline KnownMove known_move_of(ucd_type_t handle) {
    const Type &type = *reinterpret_cast<const Type *>(handle);
    const CachedOnType *const cache = type.state.cache.load(std::memory_order_acquire);
    if (cache == nullptr) return {};
    return {static_cast<const TypeCache &>(*cache).plans[Context::host_index][false].load(
                std::memory_order_acquire),
            &type};
}

// Finds the plan of a pack or an unpack without an op. Everything that this accepts, check_move()
// accepts, too. Does not look where the data is. The arguments are not written to a CheckedMove
// first, which would take longer than a short move.
[[gnu::always_inline]] inline KnownMove find_known(ucd_type_t handle, uintptr_t count,
                                                   uintptr_t offset, const void *packed,
                                                   uintptr_t packed_bytes) {
    if (count != 1 || offset != 0 || packed == nullptr || is_checked_type(handle)) return {};
    const KnownMove known = known_move_of(handle);
    return known.plan != nullptr && packed_bytes >= known.type->size ? known : KnownMove{};
}

// Same, for a member of a list. Packed bytes that become packed bytes are not known.
[[gnu::always_inline]] inline KnownMove find_known(const ucd_move_t &d) {
    if (!is_zero(d.reserved)) return {};
    if (d.outtype == UCD_TYPE__NULL && d.outoffset == 0)
        return find_known(d.intype, d.incount, d.inoffset, d.outbuf, std::min(d.outcount, d.bytes));
    // performance only: an unpack, as any other member, could take the general path
    if (d.intype == UCD_TYPE__NULL && d.inoffset == 0)
        return find_known(d.outtype, d.outcount, d.outoffset, d.inbuf,
                          std::min(d.incount, d.bytes));
    return {};
}

} // namespace ucd
