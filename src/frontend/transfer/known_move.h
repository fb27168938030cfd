// A move of one whole object whose type the host has moved before. It needs few checks, and nothing
// is made for it.
#pragma once

#include "host_lists.h"
#include "prepared/type_cache.h"
#include "transfer/check.h"
#include "transfer/context.h"

namespace ucd {

// Checks the decoded move, which has no op. Returns the plan by which the host runs it, and sets
// the type and the length; returns null for any other move. Everything that this accepts,
// check_move() accepts, too. Does not look where the data is.
[[gnu::always_inline]] inline const KernelPlan *check_known(CheckedMove &m, ucd_type_t handle) {
    if (m.count != 1 || m.offset != 0 || m.packed == nullptr ||
        reinterpret_cast<uintptr_t>(handle) <= max_reserved_handle)
        return nullptr;
    const Type &type = *reinterpret_cast<const Type *>(handle);
    const CachedOnType *const cache = type.cache.load(std::memory_order_acquire);
    if (cache == nullptr || m.length < type.size) return nullptr;
    m.type = &type;
    m.length = type.size;
    return static_cast<const TypeCache &>(*cache).plans[Context::host_index][false].load(
        std::memory_order_acquire);
}

// ---- members of a list --------------------------------------------------------------------------

// Decodes and checks a member. Of packed bytes that become packed bytes, the type is predefined,
// and so they are not known.
[[gnu::always_inline]] inline const KernelPlan *check_known_member(const ucd_move_t &d,
                                                                   CheckedMove &m) {
    const bool is_from_begin = d.intype == UCD_TYPE__NULL
                                   ? d.inoffset == 0
                                   : d.outtype == UCD_TYPE__NULL && d.outoffset == 0;
    if (!is_from_begin || !is_zero(d.reserved)) return nullptr;
    const ucd_type_t handle = decode(d, m);
    return check_known(m, handle);
}

} // namespace ucd
