// A count of a type as one layout, for the functions that list its parts.
#pragma once

#include "status.h"
#include "transfer/check.h"
#include "transfer/context.h"

#include <ucd.h>

namespace ucd {

// Finds the type and the packed size of `count` of it.
inline Status find_many(uintptr_t count, ucd_type_t handle, const Type *&type, uint64_t &bytes) {
    Context *context;
    UCD_TRY(current(context));
    UCD_TRY(resolve(handle, "type", type));
    return check_count(count, *type, "count", bytes);
}

// The type's layout with the displacements of all repetitions. If `bytes` is 0, there is nothing to
// list.
struct Whole {
    const Type *type = nullptr;
    const Layout *layout = nullptr;
    uint64_t bytes = 0;
};

inline Status find_whole(uintptr_t count, ucd_type_t handle, Whole &whole) {
    UCD_TRY(find_many(count, handle, whole.type, whole.bytes));
    UCD_TRY(check_places_known(*whole.type));
    if (whole.bytes > 0) whole.layout = &layout_of(*whole.type);
    return success;
}

// Checks the number of the first part to list. It may equal their total, which lists none. `what`
// names the parts in messages.
inline Status check_first(const char *argument, uintptr_t first, uint64_t total, const char *what) {
    if (first > total)
        return fail(UCD_ERR__INVALID_ARG, "%s is %ju; it must be at most the number of %s, %ju",
                    argument, static_cast<uintmax_t>(first), what, static_cast<uintmax_t>(total));
    return success;
}

} // namespace ucd
