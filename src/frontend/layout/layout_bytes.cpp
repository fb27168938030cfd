#include "layout/layout_bytes.h"

#include "support/list_memory.h"

namespace ucd {
uint64_t bytes_of(const Layout &layout) {
    uint64_t bytes =
        bytes_of(layout.nodes) + bytes_of(layout.tables) + bytes_of(layout.index_lists);
    for (const Table &t : layout.tables)
        bytes += bytes_of(t.displs) + bytes_of(t.first) + bytes_of(t.children) +
                 bytes_of(t.segments_first) + bytes_of(t.pieces);
    return bytes;
}

} // namespace ucd
