#include "layout/advice.h"

#include <algorithm>

namespace ucd {
namespace {

// docs/internals/decisions/0011-advice.md explains these numbers.
constexpr uint64_t max_iov = 1024;        // limit of writev, in entries
constexpr uint64_t worth_an_entry = 1024; // mean bytes that outweigh the cost of an entry
constexpr uint64_t worth_a_row = 64;      // a cache line: copy engines move whole ones
constexpr unsigned copy_engine_dims = 3;  // dimensions that copy engines support

// The number of dimensions of a regular box, with its row; 0 if the layout is not a box.
unsigned box_dims(const Layout &layout, uint64_t &row) {
    const Node *n = &layout.top();
    unsigned dims = 1; // the row
    for (; n->kind == NodeKind::strided; n = &layout.nodes[n->child]) ++dims;
    row = n->bytes;
    return n->kind == NodeKind::block ? dims : 0;
}

} // namespace

std::string advice_for(const Layout &layout) {
    if (layout.empty()) return "none: there is nothing to move";
    if (layout.has_reference())
        return "pack: its indices are read when data moves, so that no list of places exists";
    const auto number = [](uint64_t v) { return std::to_string(v); };
    const Node &top = layout.top();
    const uint64_t n = top.segments.count, mean = top.bytes / n;
    if (n == 1) return "iov: it is one segment, which can be sent from where it lies";
    const std::string what = number(n) + " segments of " + number(mean) + " bytes" +
                             (top.bytes % n == 0 ? "" : " on average");
    if (n <= max_iov && mean >= worth_an_entry)
        return "iov: " + what + ": few and long enough to be sent from where they lie";
    uint64_t row;
    const unsigned dims = box_dims(layout, row);
    if (dims > 0 && dims <= copy_engine_dims && row >= worth_a_row)
        return "dma: " + what + " in a regular box of " + number(dims) +
               " dimensions, which a copy engine takes as one move; pack where there is none";
    std::string reason = mean < worth_an_entry
                             ? "too short to be handled one by one"
                             : "more than the " + number(max_iov) + " entries that one call takes";
    if (dims > copy_engine_dims)
        reason += ", and a box of more dimensions than copy engines take";
    else if (dims > 0)
        reason += ", and rows too short for a copy engine";
    else
        reason += ", and not a regular box";
    return "pack: " + what + ": " + reason;
}

} // namespace ucd
