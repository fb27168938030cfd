// Lists the maximal segments of a layout in packed order, starting at any segment or byte.
#pragma once

#include "layout_walk.h"

#include <cstdint>

namespace ucd {

// The packed offset at which segment `index` of `top` starts; the packed size if index is the
// number of segments. O(depth * log entries).
inline uint64_t segment_start(const Layout &layout, const Node &top, uint64_t index) {
    if (index == top.segments.count) return top.bytes;
    const Node *n = &top;
    uint64_t offset = 0;
    // Steps into one of several equal children. The first segment of a child may be the last of the
    // child before.
    const auto within_children = [&](const Node &child, int64_t stride) {
        const uint64_t each = child.segments.count;
        const bool merged = touches(child.segments, stride);
        const uint64_t i = merged ? (index - 1) / (each - 1) : index / each;
        index = merged ? (index - 1) % (each - 1) + 1 : index % each;
        offset += i * child.bytes;
        n = &child;
    };
    while (index > 0) {
        if (n->kind == NodeKind::strided) {
            within_children(layout.nodes[n->child], n->stride);
            continue;
        }
        const Table &t = layout.tables[n->table];
        const Node &child = layout.nodes[n->child]; // of indexed_block and indexed
        if (t.segments_first.empty()) {
            // All entries have the same number of segments, and no segment belongs to two of them.
            const uint64_t each = n->segments.count / n->count;
            const uint64_t i = index / each;
            index %= each;
            if (n->kind == NodeKind::indexed_block) {
                offset += i * child.bytes;
                n = &child;
            } else if (n->kind == NodeKind::indexed) {
                offset += t.first[i] * child.bytes;
                if (index > 0) within_children(child, n->stride);
            } else {
                offset += t.first[i];
                n = &layout.nodes[t.children[i]];
            }
            continue;
        }
        const uint64_t i = entry_holding(t.segments_first, index);
        const uint64_t starting = t.segments_first[i + 1] - t.segments_first[i];
        index -= t.segments_first[i];
        if (n->kind == NodeKind::indexed) {
            offset += t.first[i] * child.bytes;
            const uint64_t times = t.first[i + 1] - t.first[i];
            index += repeat_segments(child.segments, times, n->stride).count - starting;
            if (index > 0) within_children(child, n->stride);
            continue;
        }
        const Node &entry =
            n->kind == NodeKind::indexed_block ? child : layout.nodes[t.children[i]];
        offset += n->kind == NodeKind::indexed_block ? i * child.bytes : t.first[i];
        index += entry.segments.count - starting;
        n = &entry;
    }
    return offset;
}

struct Segment {
    int64_t displ;
    uint64_t bytes;
};

// Joins blocks to maximal segments, up to a number of segments.
template <class Store>
class SegmentCollector {
public:
    SegmentCollector(uint64_t room, Store store) : room_(room), store_(store) {}

    // False if the block starts a segment beyond that number.
    bool add(int64_t displ, uint64_t bytes) {
        if (started_ && displace(current_.displ, static_cast<int64_t>(current_.bytes)) == displ) {
            current_.bytes += bytes;
            return true;
        }
        if (started_) store_(count_ - 1, current_);
        started_ = false;
        if (count_ == room_) return false;
        current_ = {displ, bytes};
        started_ = true;
        ++count_;
        return true;
    }
    uint64_t finish() {
        if (started_) store_(count_ - 1, current_);
        return count_;
    }

private:
    uint64_t room_, count_ = 0;
    Store store_;
    Segment current_{};
    bool started_ = false;
};

// Whether the blocks of a node are listed by one loop: the node is a block, or its child is.
struct IsBlockLoop {
    const Layout &layout;
    bool operator()(const Node &n) const {
        return n.kind == NodeKind::block ||
               (n.kind != NodeKind::structure && layout.nodes[n.child].kind == NodeKind::block);
    }
};

// Adds the blocks of a part of such a node.
template <class Collector>
bool add_piece(const Layout &layout, const Piece &piece, Collector &collector) {
    const Node &n = *piece.node;
    if (n.kind == NodeKind::block)
        return collector.add(displace(piece.origin, static_cast<int64_t>(piece.begin)),
                             piece.end - piece.begin);
    const uint64_t block = layout.nodes[n.child].bytes;
    uint64_t i = piece.begin / block, begin = piece.begin % block, left = piece.end - piece.begin;
    const auto add = [&](int64_t at) {
        const uint64_t bytes = std::min(block - begin, left);
        const bool room =
            collector.add(displace(displace(piece.origin, static_cast<int64_t>(begin)), at), bytes);
        left -= bytes;
        begin = 0;
        return room;
    };
    if (n.kind == NodeKind::strided) {
        for (; left > 0; ++i)
            if (!add(displace(0, i, n.stride))) return false;
        return true;
    }
    const Table &t = layout.tables[n.table];
    if (n.kind == NodeKind::indexed_block) {
        for (; left > 0; ++i)
            if (!add(t.displs[i])) return false;
        return true;
    }
    uint64_t run = entry_holding(t.first, i);
    const bool dense = n.stride == static_cast<int64_t>(block);
    while (left > 0) {
        const uint64_t in_run = i - t.first[run], children = t.first[run + 1] - i;
        const int64_t at = displace(t.displs[run], in_run, n.stride);
        if (dense) {
            const uint64_t bytes = std::min(children * block - begin, left);
            if (!collector.add(displace(displace(piece.origin, static_cast<int64_t>(begin)), at),
                               bytes))
                return false;
            left -= bytes;
            begin = 0;
        } else {
            for (uint64_t j = 0; j < children && left > 0; ++j)
                if (!add(displace(at, j, n.stride))) return false;
        }
        i = t.first[++run];
    }
    return true;
}

// Stores the maximal segments of the packed bytes [offset, offset + length) of `top`, at most
// `room` of them, by store(i, segment); the first and the last are cut to the range. Returns the
// number of segments.
template <class Store>
uint64_t list_segments(const Layout &layout, const Node &top, uint64_t offset, uint64_t length,
                       uint64_t room, Store store) {
    if (length == 0 || room == 0) return 0;
    SegmentCollector collector(room, store);
    Walk walk(layout, top, layout.start, IsBlockLoop{layout});
    walk.start(offset, length);
    for (Piece piece; walk.next(piece);)
        if (!add_piece(layout, piece, collector)) break;
    return collector.finish();
}

} // namespace ucd
