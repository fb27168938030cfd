// Types that are lists of blocks of consecutive bytes. Such a type can be moved by the lists that
// describe it: if it is used only once, making a layout would cost several times as much as the
// move.
#pragma once

#include "host_functions.h"
#include "types/type.h"

namespace ucd {

struct PlainList {
    // Checks the type once. May make the layout of the list's child.
    explicit PlainList(const Type &type);

    // Of form indexed_block or indexed. Null if the type is empty, is not such a list, or
    // has a cache already.
    const ListType *list = nullptr;
    PlainBlocks blocks; // refer to the lists of that type
};

// The displacement of the first packed byte.
int64_t first_byte_of(const PlainList &plain);

// A type with the same bytes and bounds, for one move by a device. Its layout is the list as it was
// described. It is not normalised, which would take several times as long, so only backends may use
// the layout. Only for form indexed_block; `plain` was made from `type`.
ConstTypeOwner as_described(const Type &type, const PlainList &plain);

} // namespace ucd
