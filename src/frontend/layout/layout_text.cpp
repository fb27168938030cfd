#include "layout/layout_text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace ucd {
namespace {

// Writes shared nodes once and refers to them by a number afterwards; otherwise the text could
// double with each level: "[@0 #1: indexed_block(...) block(4), @900 #1]".
class Writer {
public:
    Writer(const Layout &layout, uint64_t most) : layout_(layout), most_(most) {}

    std::string write(NodeId root, int64_t start) {
        // The first pass finds the nodes that occur more than once; the second pass numbers them.
        for (const bool numbered : {false, true}) {
            if (numbered && std::none_of(seen_.begin(), seen_.end(),
                                         [](const auto &s) { return s.second.times > 1; }))
                break;
            text_ = "@" + std::to_string(start);
            nodes_ = 0;
            pending_.push_back({root, "", 0});
            while (!pending_.empty()) {
                const PendingNode item = pending_.back();
                pending_.pop_back();
                text_ += item.before;
                if (item.node != none) write(item, numbered);
            }
        }
        return text_;
    }

private:
    static constexpr NodeId none = UINT32_MAX;
    struct PendingNode {
        NodeId node;        // none: only the text is written
        std::string before; // text that goes before the node
        uint64_t depth;
    };
    struct Seen {
        uint64_t times = 0, number = 0;
    };

    void write(const PendingNode &item, bool numbered) {
        const Node &n = layout_.nodes[item.node];
        if ((item.depth > 8 && item.depth - 8 > most_) || nodes_ / 4 >= most_) {
            text_ += " ...";
            return;
        }
        // Nodes with short texts are not numbered but repeated.
        if (n.kind != NodeKind::block &&
            !(n.kind == NodeKind::strided && layout_.nodes[n.child].kind == NodeKind::block)) {
            Seen &seen = seen_[item.node];
            if (numbered ? seen.number > 0 : seen.times++ > 0) {
                text_ += " #" + std::to_string(seen.number);
                return;
            }
            if (numbered && seen.times > 1) {
                seen.number = ++numbers_;
                text_ += " #" + std::to_string(seen.number) + ":";
            }
        }
        ++nodes_;
        node(n, item.depth);
    }

    // Calls `write_entry(i)` for the entries, up to the limit.
    template <class WriteEntry>
    void list(uint64_t count, WriteEntry write_entry) {
        text_ += std::to_string(count) + ";";
        for (uint64_t i = 0; i < count; ++i) {
            if (i == most_) {
                text_ += " ...";
                return;
            }
            text_ += i == 0 ? " " : ", ";
            write_entry(i);
        }
    }

    void node(const Node &n, uint64_t depth) {
        switch (n.kind) {
        case NodeKind::block:
            text_ += " block(" + std::to_string(n.bytes) + ")";
            if (n.element != Element::none)
                text_ += ":" + std::to_string(static_cast<unsigned>(n.element));
            return;
        case NodeKind::strided:
            text_ += " strided(" + std::to_string(n.count) + ", " + std::to_string(n.stride) + ")";
            break;
        case NodeKind::indexed_block: {
            const Table &t = layout_.tables[n.table];
            text_ += " indexed_block(";
            list(n.count, [&](uint64_t i) { text_ += std::to_string(t.displs[i]); });
            text_ += ")";
            break;
        }
        case NodeKind::by_reference: {
            const IndexList &list = layout_.index_lists[n.table];
            char address[32];
            std::snprintf(address, sizeof address, "%p", list.indices);
            text_ += " by_reference(" + std::to_string(n.count) + ", indices at " + address +
                     " times " + std::to_string(list.unit) + ")";
            break;
        }
        case NodeKind::indexed: {
            const Table &t = layout_.tables[n.table];
            text_ += " indexed(stride " + std::to_string(n.stride) + ", ";
            list(n.count, [&](uint64_t i) {
                text_ +=
                    std::to_string(t.first[i + 1] - t.first[i]) + "@" + std::to_string(t.displs[i]);
            });
            text_ += ")";
            break;
        }
        case NodeKind::structure: {
            const Table &t = layout_.tables[n.table];
            const uint64_t shown = n.count < most_ ? n.count : most_;
            pending_.push_back({none, shown < n.count ? " ...]" : "]", 0});
            for (uint64_t i = shown; i-- > 0;)
                pending_.push_back({t.children[i],
                                    (i == 0 ? "@" : ", @") + std::to_string(t.displs[i]),
                                    depth + 1});
            text_ += " [";
            return;
        }
        }
        pending_.push_back({n.child, "", depth + 1});
    }

    const Layout &layout_;
    uint64_t most_;
    std::string text_;
    std::vector<PendingNode> pending_; // items to write; the last one is next
    std::map<NodeId, Seen> seen_;
    uint64_t nodes_ = 0, numbers_ = 0;
};

} // namespace

std::string to_text(const Layout &layout, uint64_t most) {
    return layout.empty() ? "empty" : to_text(layout, layout.root, layout.start, most);
}

std::string to_text(const Layout &layout, NodeId root, int64_t start, uint64_t most) {
    return Writer(layout, most).write(root, start);
}

} // namespace ucd
