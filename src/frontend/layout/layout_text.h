// Layouts in words.
#pragma once

#include "layout.h"

#include <string>

namespace ucd {

// One line, e.g. `@8 strided(3, 64) indexed_block(4; 0, 24, 32, 80) block(8)`: where the first byte
// lies, then the nodes from the outermost. A structure lists its children in brackets. A node that
// comes again is written once, behind a number, and then named by that: `[@0 #1: ..., @900 #1]`; so
// the text is linear in the number of nodes. Lists of more than `most` entries, nesting beyond
// that, and more than 4 * `most` nodes are cut short by `...`. Two layouts are equal exactly if
// their uncut texts are.
std::string to_text(const Layout &layout, uint64_t most = 8);
// Of the part of a layout under `root`, which starts at `start`.
std::string to_text(const Layout &layout, NodeId root, int64_t start, uint64_t most = 8);

} // namespace ucd
