#include "layout/advice.h"

#include <ucd.h>

namespace ucd {
namespace {

// docs/internals/decisions/types-and-layouts.md explains these numbers.
constexpr uint64_t worth_a_row = 64;     // a cache line: copy engines move whole ones
constexpr unsigned copy_engine_dims = 3; // dimensions that copy engines support

// A regular box: its levels with the row, and the bytes of a row. No levels if it is none.
struct RegularBox {
    unsigned dims;
    uint64_t row;
};

RegularBox regular_box(const Layout &layout, const Node &top) {
    const Node *n = &top;
    unsigned dims = 1;
    for (; n->kind == NodeKind::strided; n = &layout.nodes[n->child]) ++dims;
    return {n->kind == NodeKind::block ? dims : 0, n->bytes};
}

bool suits_copy_engine(const RegularBox &box) {
    return box.dims > 0 && box.dims <= copy_engine_dims && box.row >= worth_a_row;
}

std::string number(uint64_t value) {
    return std::to_string(value);
}

std::string reason_to_pack(const Advice &advice, const RegularBox &box,
                           const AdviceLimits &limits) {
    const std::string reason =
        advice.mean_segment < limits.min_segment
            ? "too short to be handled one by one"
            : "more than the " + number(limits.max_entries) + " entries that one call takes";
    if (box.dims == 0) return reason + ", and not a regular box";
    if (box.dims <= copy_engine_dims) return reason + ", and rows too short for a copy engine";
    return reason + ", and a box of more dimensions than copy engines take";
}

} // namespace

Advice advise(const Type &type, const Layout &layout, uint64_t count, const AdviceLimits &limits) {
    if (type.by_reference) return {UCD_FORM__PACK, 0, 0};
    if (layout.empty() || count == 0) return {UCD_FORM__CONTIG, 0, 0};
    const Node top = repeat(layout.top(), layout.root, count, type.extent());
    const uint64_t segments = top.segments.count, mean = top.bytes / segments;
    const auto form = segments == 1 ? UCD_FORM__CONTIG
                      : segments <= limits.max_entries && mean >= limits.min_segment ? UCD_FORM__IOV
                      : suits_copy_engine(regular_box(layout, top)) ? UCD_FORM__BOXES
                                                                    : UCD_FORM__PACK;
    return {static_cast<uint32_t>(form), segments, mean};
}

std::string advice_text(const Type &type, const Layout &layout) {
    const AdviceLimits limits;
    const Advice advice = advise(type, layout, 1, limits);
    const uint64_t n = advice.segments, mean = advice.mean_segment;
    if (advice.form == UCD_FORM__CONTIG)
        return n == 0 ? "none: there is nothing to move"
                      : "none: it is one segment, which can be sent from where it lies";
    if (n == 0)
        return "pack: its indices are read when data moves, so that no list of places exists";
    const std::string what = number(n) + " segments of " + number(mean) + " bytes" +
                             (n * mean == type.size ? "" : " on average");
    if (advice.form == UCD_FORM__IOV)
        return "iov: " + what + ": few and long enough to be sent from where they lie";
    const RegularBox box = regular_box(layout, layout.top());
    if (advice.form == UCD_FORM__BOXES)
        return "dma: " + what + " in a regular box of " + number(box.dims) +
               " dimensions, which a copy engine takes as one job; pack where there is none";
    return "pack: " + what + ": " + reason_to_pack(advice, box, limits);
}

} // namespace ucd
