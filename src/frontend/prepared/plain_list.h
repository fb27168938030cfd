// Types that are lists of blocks of consecutive bytes. Such a type can be moved as it was
// described: where it is used once only, a layout would cost several times what the move does.
#pragma once

#include "host_lists.h"
#include "types/lists.h"
#include "types/type.h"

namespace ucd {

struct PlainList {
    // Looks for it once, so that it holds the lists once. May derive the layout of the list's
    // child.
    explicit PlainList(const Type &type);
    ~PlainList() {
        if (list != nullptr) list->lists.drop();
    }
    PlainList(const PlainList &) = delete;
    PlainList &operator=(const PlainList &) = delete;

    // Of form indexed_block or indexed; its lists are held. Null: nothing lies in the type, it is
    // not such a list, or something has been derived from it already.
    const Type *list = nullptr;
    int64_t shift = 0;  // of the first byte of a block at displacement 0
    uint64_t bytes = 0; // of each block, or of each child if blocks have own lengths
};

inline bool is_plain_list(const Type &type) {
    return PlainList(type).list != nullptr;
}

// Where the first packed byte lies.
int64_t first_byte_of(const PlainList &plain);

// What moves all of it; the sides and the direction are left open.
ListMove move_of(const PlainList &plain);

// A type with the same bytes and bounds, to be moved once by a device: its layout is the list as it
// was described, in no normal form, which would take several times as long to find. Only backends
// may look at that layout. Of lists of form indexed_block; `type` is what `plain` was found of.
ConstTypeOwner as_described(const Type &type, const PlainList &plain);

} // namespace ucd
