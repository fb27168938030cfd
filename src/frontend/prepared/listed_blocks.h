// The lists that a type was made with, as its layout has them.
#pragma once

#include "layout.h"
#include "types/lists.h"

namespace ucd {

// Which lists of a type follow from its layout.
struct ListsInLayout {
    bool displs = false, lengths = false;
};
ListsInLayout find_lists(const Type &type, const Layout &layout);

// These lists. The layout lives longer than `blocks`.
void list_blocks(const Type &type, const Layout &layout, bool lengths_too, ListedBlocks &blocks);

} // namespace ucd
