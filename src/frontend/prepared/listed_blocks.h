// Recovers the lists that a type was made with from its layout.
#pragma once

#include "layout.h"
#include "types/lists.h"

namespace ucd {

// Which lists of a type can be recovered from its layout.
struct ListsInLayout {
    bool displs = false, lengths = false;
};
ListsInLayout find_lists(const Type &type, const Layout &layout);

// Computes these lists. The layout outlives `blocks`.
void list_blocks(const Type &type, const Layout &layout, bool lengths_too, ListedBlocks &blocks);

} // namespace ucd
