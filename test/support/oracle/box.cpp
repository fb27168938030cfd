#include "support/oracle/box.hpp"

#include <algorithm>
#include <cstdint>

namespace ucdtest {

bool box_is(const ucd_layout_t &layout, const ByteMap &bytes) {
    std::uint64_t blocks = 1;
    for (std::uint32_t k = 0; k < layout.box_dims; ++k) {
        if (layout.box_count[k] == 0 || layout.box_count[k] > bytes.size()) return false;
        blocks *= layout.box_count[k];
    }
    if (blocks * layout.box_block != bytes.size()) return false;
    for (std::uint64_t block = 0, at = 0; block < blocks; ++block) {
        std::int64_t displ = layout.box_start;
        std::uint64_t rest = block;
        for (std::uint32_t k = layout.box_dims; k-- > 0;) {
            displ += static_cast<std::int64_t>(rest % layout.box_count[k]) * layout.box_stride[k];
            rest /= layout.box_count[k];
        }
        for (std::uint64_t i = 0; i < layout.box_block; ++i, ++at) {
            if (bytes[at] != displ + static_cast<std::int64_t>(i)) return false;
        }
    }
    return true;
}

std::size_t box_dimensions(const std::vector<Segment> &pieces) {
    if (pieces.empty()) return 0;
    std::vector<std::intptr_t> starts;
    for (const Segment &piece : pieces) {
        if (piece.bytes != pieces.front().bytes) return 0;
        starts.push_back(piece.displ);
    }
    // The first arithmetic run is a whole innermost row (a longer run than a row would mean that
    // the row's dimension and the next are one). Then rows must all be alike, and so on with their
    // starts.
    std::size_t dims = 0;
    while (starts.size() > 1) {
        std::size_t row = 2;
        const std::intptr_t stride = starts[1] - starts[0];
        while (row < starts.size() && starts[row] - starts[row - 1] == stride) ++row;
        if (starts.size() % row != 0) return 0;
        std::vector<std::intptr_t> rows;
        for (std::size_t i = 0; i < starts.size(); ++i) {
            if (i % row == 0) rows.push_back(starts[i]);
            if (starts[i] != rows.back() + static_cast<std::intptr_t>(i % row) * stride) return 0;
        }
        starts = rows;
        ++dims;
    }
    return std::max<std::size_t>(1, dims);
}

} // namespace ucdtest
