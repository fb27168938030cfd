// The lists that a type was made with, as its layout has them.
#pragma once

#include "layout.h"
#include "types/type.h"

#include <cstdint>
#include <vector>

namespace ucd {

// Which lists of a type follow from its layout.
struct ListedBlocks {
    bool displs = false, lengths = false;
};
ListedBlocks find_listed_blocks(const Type &type, const Layout &layout);

// Where the blocks lie, in bytes from the first; and their lengths, if `lengths` is not null.
void list_blocks(const Type &type, const Layout &layout, std::vector<int64_t> &displs,
                 std::vector<int64_t> *lengths);

} // namespace ucd
