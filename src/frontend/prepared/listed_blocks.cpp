#include "prepared/listed_blocks.h"

#include "support/list_memory.h"
#include "types/lists.h"
#include "types/predefined.h"

namespace ucd {
namespace {

// Whether the packed bytes of each entry of the layout's list are consecutive in memory.
bool is_dense(const Layout &layout) {
    const Node &top = layout.top(), &child = layout.nodes[top.child];
    return child.kind == NodeKind::block &&
           (top.kind == NodeKind::indexed_block || top.stride == static_cast<int64_t>(child.bytes));
}

// Whether displacements in units can be computed from those in bytes, because none is so large that
// it could have wrapped.
bool is_near(const Type &t) {
    constexpr int64_t near = int64_t{1} << 61;
    const auto within = [](int64_t n) { return n > -near && n < near; };
    return t.unit != 0 && within(t.true_lb) && within(t.true_ub) && within(t.child->true_lb) &&
           within(t.child->true_ub);
}

// The size of each block is a multiple of this number of packed bytes.
uint64_t block_grain(const Type &t) {
    const uint64_t times = t.form == Form::indexed ? 1 : static_cast<uint64_t>(t.blocklength);
    return times * t.child->size;
}

// Whether each block is consecutive in memory, whatever its length.
bool has_whole_blocks(const Type &t) {
    const Type &child = *t.child;
    return child.form == Form::element && pieces_of(child.element).second_bytes == 0 &&
           child.extent() == static_cast<int64_t>(child.size);
}

bool has_as_many(const Type &t, const Layout &layout) {
    return layout.top().count == static_cast<uint64_t>(t.count);
}

} // namespace

ListsInLayout find_lists(const Type &t, const Layout &layout) {
    if (t.form != Form::indexed_block && t.form != Form::indexed) return {};
    if (layout.empty() || layout.has_reference() || !is_near(t)) return {};
    const Node &top = layout.top();
    if (top.kind != NodeKind::indexed_block && top.kind != NodeKind::indexed) return {};
    const bool dense = is_dense(layout);
    // If entries are not dense, they must begin where a block or a child of a block begins.
    if (!dense && block_grain(t) % layout.nodes[top.child].bytes != 0) return {};
    if (t.any_empty) return {}; // the layout does not contain empty blocks
    // If there are as many entries as blocks, and each block is consecutive, entry i is block i.
    const bool one_by_one = dense && has_as_many(t, layout) && has_whole_blocks(t);
    return {.displs = true, .lengths = one_by_one && t.form == Form::indexed};
}

namespace {

std::vector<int64_t> lengths_of_entries(const Type &t, const Layout &layout) {
    const Node &top = layout.top();
    const Span<const uint64_t> first = layout.tables[top.table].first;
    const uint64_t each = layout.nodes[top.child].bytes, child = t.child->size;
    std::vector<int64_t> lengths = take_list<int64_t>(top.count);
    if (top.kind == NodeKind::indexed_block) {
        lengths.assign(top.count, static_cast<int64_t>(each / child));
        return lengths;
    }
    lengths.resize(top.count);
    const auto fill = [&](auto in_children) {
        for (std::size_t i = 0; i < top.count; ++i)
            lengths[i] = static_cast<int64_t>(in_children(first[i + 1] - first[i]));
    };
    // A division would take longer than the rest of the loop.
    if (each % child == 0)
        fill([by = each / child](uint64_t n) { return n * by; });
    else
        fill([=](uint64_t n) { return n * each / child; });
    return lengths;
}

// For blocks that each lie in a single entry of a dense list. Finds the entries without branches.
std::vector<int64_t> displs_of_whole_blocks(const Type &t, const Layout &layout) {
    const Node &top = layout.top();
    const Table &table = layout.tables[top.table];
    const uint64_t each = layout.nodes[top.child].bytes, child = t.child->size;
    std::vector<int64_t> displs = take_list<int64_t>(static_cast<std::size_t>(t.count));
    displs.resize(static_cast<std::size_t>(t.count));
    const auto fill = [&](auto end_of, auto length_of) {
        uint64_t at = 0, begin = 0, end = end_of(0);
        std::size_t entry = 0;
        for (std::size_t i = 0; i < displs.size(); ++i) {
            displs[i] = displace(table.displs[entry], static_cast<int64_t>(at - begin));
            at += length_of(i) * child;
            const bool next = at == end && i + 1 < displs.size();
            begin = next ? end : begin;
            entry += next;
            end = end_of(entry);
        }
    };
    const auto with_ends = [&](auto length_of) {
        if (top.kind == NodeKind::indexed)
            fill([&](std::size_t entry) { return table.first[entry + 1] * each; }, length_of);
        else
            fill([=](std::size_t entry) { return (entry + 1) * each; }, length_of);
    };
    if (t.form == Form::indexed)
        with_ends([lengths = t.lists.lengths.data()](std::size_t i) {
            return static_cast<uint64_t>(lengths[i]);
        });
    else
        with_ends([length = static_cast<uint64_t>(t.blocklength)](std::size_t) { return length; });
    return displs;
}

// For all other blocks, which follow each other in packed order. `grain` is the unit of packed
// bytes in which entries and blocks are counted; units are `stride` bytes apart within an entry.
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

void list_blocks(const Type &t, const Layout &layout, bool lengths_too, ListedBlocks &blocks) {
    const Node &top = layout.top();
    const bool dense = is_dense(layout);
    if (lengths_too) {
        blocks.length_memory = lengths_of_entries(t, layout);
        blocks.lengths = blocks.length_memory;
    }
    // Blocks of one length, as many as entries, begin where the entries begin.
    if (lengths_too || (t.form == Form::indexed_block && top.kind == NodeKind::indexed_block &&
                        has_as_many(t, layout))) {
        blocks.displs = layout.tables[top.table].displs;
        return;
    }
    blocks.displ_memory =
        !dense ? displs_of_blocks(t, layout, layout.nodes[top.child].bytes, top.stride)
        : has_whole_blocks(t) ? displs_of_whole_blocks(t, layout)
                              : displs_of_blocks(t, layout, 1, 1);
    blocks.displs = blocks.displ_memory;
}

} // namespace ucd
