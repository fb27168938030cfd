#include "transfer/streamed_rows.h"

#include "pitched_copies.h"
#include "prepared/type_cache.h"
#include "support/streaming_copy.h"
#include "transfer/route.h"

#include <algorithm>

namespace ucd {

bool has_long_rows(const CheckedMove &m, Box &box) {
    constexpr uint64_t line = 64;
    if (m.to_type == nullptr || m.to_type->by_reference) return false;
    const Layout &layout = layout_of(*m.to_type);
    const Node top = repeat(layout.top(), layout.root, m.to.count, m.to_type->extent());
    if (box_levels(layout, top) == no_box) return false;
    box = box_of(layout, top, layout.start, 0);
    return box.block >= line;
}

void unpack_streaming(const CheckedMove &m, const Box &box, const char *packed) {
    uint64_t done = 0;
    const auto unpack = [&](const PitchedCopy &rows) {
        stream_rows(displaced(m.to.address, static_cast<uint64_t>(rows.start)), rows.row_stride,
                    packed + done, rows.row, rows.rows);
        done += rows.bytes();
        return true;
    };
    const auto store = [&](const Box &part) {
        (void)for_each_copy(part, std::min(pitched_levels(part), 1U), unpack);
    };
    cut_box(box, m.to.offset, m.to.offset + m.length, store);
    end_streaming();
}

} // namespace ucd
