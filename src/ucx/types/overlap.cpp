// Finds out whether a layout contains bytes more than once.
#include "types/known_types.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <sys/uio.h>
#include <vector>

namespace ucd_ucx {
namespace {

struct Dimension {
    uint64_t stride, count;
};

// If each dimension fits in a step of the next one, as in arrays, no byte occurs twice. The result
// is `some` only if that is certain.
Overlap overlap_of_box(const ucd_layout_t &layout) {
    std::array<Dimension, sizeof layout.box_count / sizeof layout.box_count[0]> dimensions;
    dimensions.fill({UINT64_MAX, 1});
    std::size_t dims = 0;
    for (uint32_t d = 0; d < layout.box_dims; ++d) {
        if (layout.box_count[d] <= 1) continue;
        const int64_t stride = layout.box_stride[d];
        if (stride == 0) return Overlap::some;
        const auto bits = static_cast<uint64_t>(stride);
        dimensions[dims++] = {stride < 0 ? -bits : bits, layout.box_count[d]};
    }
    std::sort(dimensions.begin(), dimensions.end(),
              [](const Dimension &a, const Dimension &b) { return a.stride < b.stride; });
    uint64_t span = layout.box_block;
    for (std::size_t d = 0; d < dims; ++d) {
        if (dimensions[d].stride < span) return d == 0 ? Overlap::some : Overlap::unknown;
        // This cannot overflow, because bounds fit 63 bits.
        span += dimensions[d].stride * (dimensions[d].count - 1);
    }
    return Overlap::none;
}

} // namespace

Overlap overlap_of(const ucd_layout_t &layout) {
    if (layout.contiguous || layout.bytes == 0) return Overlap::none;
    if (layout.bytes > static_cast<uint64_t>(layout.high - layout.low)) return Overlap::some;
    return layout.box_dims > 0 ? overlap_of_box(layout) : Overlap::unknown;
}

// Of `count` of a type, by listing and sorting its segments.
static Status find_by_list(uint64_t count, ucd_type_t type, const ucd_layout_t &layout,
                           Overlap &overlap) {
    // charged: in PeerType::find_overlap
    std::vector<iovec> all(layout.segments);
    uintptr_t got;
    // Displacements are enough to find overlap, so the base address is null.
    UCD_TRY(ucd_ok(ucd_iov(nullptr, count, type, 0, all.data(), all.size(), &got)));
    const auto place = [](const iovec &s) { return reinterpret_cast<intptr_t>(s.iov_base); };
    const auto before = [&](const iovec &a, const iovec &b) { return place(a) < place(b); };
    if (!std::is_sorted(all.begin(), all.end(), before)) std::sort(all.begin(), all.end(), before);
    overlap = Overlap::none;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (place(all[i]) - place(all[i - 1]) < static_cast<intptr_t>(all[i - 1].iov_len))
            overlap = Overlap::some;
    return success;
}

Status PeerType::find_overlap(uint64_t count, Ledger &ledger, ucp_ep_h peer, uint64_t &work,
                              Overlap &found, bool *refused) const {
    *refused = false;
    found = overlap_;
    if (count == overlap_count_ && count > 0) return success;
    const ucd_layout_t *layout;
    UCD_TRY(measure(count, layout));
    found = overlap_of(*layout);
    if (found == Overlap::unknown && layout->segments <= work) {
        const uint64_t bytes = layout->segments * sizeof(iovec);
        if (!ledger.is_possible(bytes, LedgerUse::chunk)) return success; // as for too much work
        const Charge listed = ledger.take(peer, bytes, LedgerUse::chunk);
        *refused = !listed;
        if (*refused) return success;
        work -= layout->segments;
        constexpr uint64_t steps_of_segment = 8; // each is listed and sorted
        ledger.note_work(peer, steps_of_segment * layout->segments);
        UCD_TRY(find_by_list(count, type.get(), *layout, found));
    }
    if (found == Overlap::unknown) return success;
    overlap_count_ = count;
    overlap_ = found;
    return success;
}

} // namespace ucd_ucx
