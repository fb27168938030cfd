// Layouts as text.
#pragma once

#include "layout.h"

#include <string>

namespace ucd {

// One line, e.g. `@8 strided(3, 64) indexed_block(4; 0, 24, 32, 80) block(8)`: the displacement of
// the first byte, then the nodes from the outermost. A structure lists its children in brackets. A
// node that occurs more than once is written once, after a number, and is that number afterwards:
// `[@0 #1: ..., @900 #1]`; so the length of the text is linear in the number of nodes. Lists of
// more than `most` entries, deeper nesting, and more than 4 * `most` nodes are cut short by `...`.
// Two layouts are equal if and only if their texts without cuts are.
std::string to_text(const Layout &layout, uint64_t most = 8);
// The text of the part of a layout under `root`, which starts at `start`.
std::string to_text(const Layout &layout, NodeId root, int64_t start, uint64_t most = 8);

} // namespace ucd
