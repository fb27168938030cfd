// Finds where a box of a layout begins without visiting the boxes before it.
#pragma once

#include "box.h"
#include "layout_walk.h"

#include <cstddef>
#include <vector>

namespace ucd {

// The number of boxes of each node of a layout, and a mark at every 64th entry of its lists.
// Immutable; the layout outlives it.
class BoxIndex {
public:
    explicit BoxIndex(const Layout &layout) : layout_(layout) {
        nodes_.reserve(layout.nodes.size());
        for (const Node &node : layout.nodes) {
            const auto marks_at = static_cast<uint32_t>(marks_.size());
            const uint64_t boxes = count(node);
            nodes_.push_back({boxes, marks_at});
        }
        marks_.shrink_to_fit();
    }

    // The number of boxes of a node. A node outside the layout is allowed unless it is a list; see
    // repeat().
    uint64_t boxes(const Node &node) const {
        if (box_levels(layout_, node) != no_box) return 1;
        if (node.kind == NodeKind::strided) return node.count * nodes_[node.child].boxes;
        return nodes_[id_of(node)].boxes;
    }

    // The packed position at which box number `box` of `top` begins. O(depth * log entries).
    uint64_t position(const Node &top, uint64_t box) const {
        const Node *n = &top;
        uint64_t position = 0;
        while (box > 0) {
            if (n->kind == NodeKind::structure) {
                const Table &t = layout_.tables[n->table];
                const uint64_t entry = entry_holding_box(*n, t, box);
                position += t.first[entry];
                n = &layout_.nodes[t.children[entry]];
            } else if (BoxList::is(layout_, *n)) {
                return position + BoxList(layout_, *n).packed(first_entry_of(*n, box));
            } else {
                const uint64_t each = nodes_[n->child].boxes;
                n = &layout_.nodes[n->child];
                position += box / each * n->bytes;
                box %= each;
            }
        }
        return position;
    }

    // A box of a list, which consists of the entries [first, end).
    struct Entries {
        uint64_t box, first, end;
    };
    Entries box_with_entry(const Node &node, uint64_t entry) const {
        const BoxList list(layout_, node);
        const BoxMark *mark = marks_of(node) + entry / every;
        Entries found{mark->boxes, mark->first, 0};
        for (uint64_t i = entry / every * every + 1; i <= entry; ++i)
            if (!list.continues(found.first, i)) found = {found.box + 1, i, 0};
        found.end = end_of(node, list, found);
        return found;
    }
    Entries box_after(const Node &node, const Entries &before) const {
        Entries found{before.box + 1, before.end, 0};
        found.end = end_of(node, BoxList(layout_, node), found);
        return found;
    }

    std::size_t memory() const {
        return nodes_.capacity() * sizeof(OfNode) + marks_.capacity() * sizeof(BoxMark);
    }
    // The memory that the index of such a layout takes.
    static std::size_t memory_for(const Layout &layout) {
        std::size_t marks = 0;
        for (const Node &n : layout.nodes)
            if (n.kind != NodeKind::block && n.kind != NodeKind::strided)
                marks += (n.count + every - 1) / every;
        return layout.nodes.size() * sizeof(OfNode) + marks * sizeof(BoxMark);
    }

private:
    struct OfNode {
        uint64_t boxes;
        uint32_t marks_at; // for lists and structures
    };
    // For entries 0, `every`, 2 * `every`, ... In a list: the number of the box with that entry,
    // and the first entry of that box. In a structure: the number of boxes before that entry.
    struct BoxMark {
        uint64_t boxes, first;
    };
    static constexpr uint64_t every = 64;

    std::size_t id_of(const Node &node) const {
        return static_cast<std::size_t>(&node - layout_.nodes.data());
    }
    const BoxMark *marks_of(const Node &node) const {
        return marks_.data() + nodes_[id_of(node)].marks_at;
    }

    // Returns the number of the node's boxes, and sets its marks.
    uint64_t count(const Node &n) {
        if (box_levels(layout_, n) != no_box) return 1;
        if (n.kind == NodeKind::structure) {
            uint64_t boxes = 0;
            const auto &children = layout_.tables[n.table].children;
            for (uint64_t i = 0; i < children.size(); ++i) {
                if (i % every == 0) marks_.push_back({boxes, i});
                boxes += nodes_[children[i]].boxes;
            }
            return boxes;
        }
        if (BoxList::is(layout_, n)) return count(BoxList(layout_, n));
        const uint64_t children =
            n.kind == NodeKind::indexed ? layout_.tables[n.table].first.back() : n.count;
        return children * nodes_[n.child].boxes;
    }
    uint64_t count(const BoxList &list) {
        uint64_t boxes = 1, first = 0;
        for (uint64_t i = 0; i < list.entries(); ++i) {
            if (i > 0 && !list.continues(first, i)) {
                first = i;
                ++boxes;
            }
            if (i % every == 0) marks_.push_back({boxes - 1, first});
        }
        return boxes;
    }

    // The index of the node's last mark with at most `box` boxes before it.
    uint64_t mark_before(const Node &node, uint64_t box) const {
        const BoxMark *marks = marks_of(node);
        return entry_holding((node.count + every - 1) / every, box,
                             [marks](uint64_t i) { return marks[i].boxes; });
    }

    // The entry of a structure that contains box number `box`; `box` is then counted from that
    // entry.
    uint64_t entry_holding_box(const Node &node, const Table &t, uint64_t &box) const {
        const uint64_t mark = mark_before(node, box);
        box -= marks_of(node)[mark].boxes;
        for (uint64_t i = mark * every;; ++i) {
            const uint64_t boxes = nodes_[t.children[i]].boxes;
            if (box < boxes) return i;
            box -= boxes;
        }
    }

    uint64_t first_entry_of(const Node &node, uint64_t box) const {
        const BoxList list(layout_, node);
        const uint64_t mark = mark_before(node, box);
        auto [number, first] = marks_of(node)[mark];
        for (uint64_t i = mark * every; number < box;)
            if (!list.continues(first, ++i)) {
                first = i;
                ++number;
            }
        return first;
    }

    uint64_t end_of(const Node &node, const BoxList &list, const Entries &of) const {
        const auto scan = [&](uint64_t from, uint64_t to) {
            while (from < to && list.continues(of.first, from)) ++from;
            return from;
        };
        const uint64_t next_mark = (of.first / every + 1) * every;
        if (next_mark >= list.entries()) return scan(of.first + 1, list.entries());
        const uint64_t end = scan(of.first + 1, next_mark);
        if (end < next_mark || marks_of(node)[next_mark / every].boxes != of.box) return end;
        return scan(mark_before(node, of.box) * every + 1, list.entries());
    }

    const Layout &layout_;
    std::vector<OfNode> nodes_;
    std::vector<BoxMark> marks_;
};

} // namespace ucd
