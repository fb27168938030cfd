#include "prepared/listed_blocks.h"

#include "support/list_memory.h"
#include "types/lists.h"
#include "types/predefined.h"

namespace ucd {
namespace {

// Whether the bytes of each entry of the layout's list follow each other in memory too.
bool is_dense(const Layout &layout) {
    const Node &top = layout.top(), &child = layout.nodes[top.child];
    return child.kind == NodeKind::block &&
           (top.kind == NodeKind::indexed_block || top.stride == static_cast<int64_t>(child.bytes));
}

// Whether displacements in units follow from those in bytes: none is so far away that it wrapped.
bool is_near(const Type &t) {
    constexpr int64_t near = int64_t{1} << 61;
    const auto within = [](int64_t n) { return n > -near && n < near; };
    return t.unit != 0 && within(t.true_lb) && within(t.true_ub) && within(t.child->true_lb) &&
           within(t.child->true_ub);
}

bool any_empty(const Type &t) {
    uint64_t below_one = 0; // the sign; no length is negative
    for (const int64_t length : t.blocklengths) below_one |= static_cast<uint64_t>(length) - 1;
    return below_one >> 63 != 0;
}

// The packed bytes that each block has a multiple of.
uint64_t block_grain(const Type &t) {
    const uint64_t times = t.form == Form::indexed ? 1 : static_cast<uint64_t>(t.blocklength);
    return times * t.child->size;
}

} // namespace

ListedBlocks find_listed_blocks(const Type &t, const Layout &layout) {
    if (t.form != Form::indexed_block && t.form != Form::indexed) return {};
    if (layout.empty() || layout.has_reference() || !is_near(t)) return {};
    const Node &top = layout.top();
    if (top.kind != NodeKind::indexed_block && top.kind != NodeKind::indexed) return {};
    const bool dense = is_dense(layout);
    // Entries that are not dense begin where a block does, or a child of one.
    if (!dense && block_grain(t) % layout.nodes[top.child].bytes != 0) return {};
    // Where an empty block is, the layout does not say.
    if (!hold_lists(t)) return {};
    const bool empty = any_empty(t);
    drop_lists(t);
    if (empty) return {};
    // As many entries as blocks, each of which is consecutive: entry i is block i.
    const bool one_by_one = dense && top.count == static_cast<uint64_t>(t.count) &&
                            t.child->form == Form::element &&
                            pieces_of(t.child->element).second_bytes == 0;
    return {.displs = true, .lengths = one_by_one && t.form == Form::indexed};
}

namespace {

std::vector<int64_t> lengths_of_entries(const Type &t, const Layout &layout) {
    const Node &top = layout.top();
    const std::vector<uint64_t> &first = layout.tables[top.table].first;
    const uint64_t each = layout.nodes[top.child].bytes, child = t.child->size;
    std::vector<int64_t> lengths = take_list<int64_t>(top.count);
    for (std::size_t i = 0; i < top.count; ++i) {
        const uint64_t times = top.kind == NodeKind::indexed ? first[i + 1] - first[i] : 1;
        lengths.push_back(static_cast<int64_t>(times * each / child));
    }
    return lengths;
}

// Blocks follow each other in packed order. `grain`: the unit of packed bytes in which entries and
// blocks are counted, `stride` bytes apart within an entry.
std::vector<int64_t> displs_of_blocks(const Type &t, const Layout &layout, uint64_t grain,
                                      int64_t stride) {
    const Node &top = layout.top();
    const Table &table = layout.tables[top.table];
    const uint64_t in_child = layout.nodes[top.child].bytes / grain;
    const auto end_of = [&](std::size_t entry) {
        return (top.kind == NodeKind::indexed ? table.first[entry + 1] : entry + 1) * in_child;
    };
    std::vector<int64_t> displs = take_list<int64_t>(static_cast<std::size_t>(t.count));
    uint64_t at = 0, begin = 0, end = end_of(0);
    std::size_t entry = 0;
    for (int64_t i = 0; i < t.count; ++i) {
        while (at >= end) {
            begin = end;
            end = end_of(++entry);
        }
        displs.push_back(displace(table.displs[entry], at - begin, stride));
        at += static_cast<uint64_t>(t.block_length(i)) * t.child->size / grain;
    }
    return displs;
}

} // namespace

void list_blocks(const Type &t, const Layout &layout, std::vector<int64_t> &displs,
                 std::vector<int64_t> *lengths) {
    const Node &top = layout.top();
    if (lengths != nullptr) {
        const std::vector<int64_t> &all = layout.tables[top.table].displs;
        displs = list_of(all.data(), all.size());
        *lengths = lengths_of_entries(t, layout);
    } else if (is_dense(layout)) {
        displs = displs_of_blocks(t, layout, 1, 1);
    } else {
        displs = displs_of_blocks(t, layout, layout.nodes[top.child].bytes, top.stride);
    }
}

} // namespace ucd
