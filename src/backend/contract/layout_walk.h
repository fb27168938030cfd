// Walks a layout from any byte of its packed stream, without visiting the bytes before and without
// recursion. Finding a byte takes O(levels down to it * log entries).
#pragma once

#include "entry_holding.h"
#include "layout.h"

#include <algorithm>
#include <memory>

namespace ucd {

// A leaf of the walk: the bytes [begin, end) of a node that is placed at `origin`.
struct Piece {
    const Node *node;
    int64_t origin;
    uint64_t begin, end;
};

// Yields the leaves under `top` in packed order. The predicate defines which nodes are leaves: it
// must hold for blocks, and may hold for other nodes that the caller treats as a whole.
template <class IsLeaf>
class Walk {
public:
    // `top` may be a node outside of `layout` (see repeat()); `origin` is its displacement.
    Walk(const Layout &layout, const Node &top, int64_t origin, IsLeaf is_leaf)
        : layout_(layout), top_(top), origin_(origin), is_leaf_(is_leaf) {}
    Walk(const Walk &) = delete;
    Walk &operator=(const Walk &) = delete;

    // start() selects the packed bytes [offset, offset + length). Each next() yields one leaf; the
    // first and the last are cut to the range. It returns false when no leaf is left.
    void start(uint64_t offset, uint64_t length) {
        remaining_ = length;
        used_ = 0;
        if (length > 0) descend(&top_, origin_, offset);
    }

    bool next(Piece &piece) {
        if (remaining_ == 0) return false;
        if (leaf_ == nullptr) advance();
        piece.node = leaf_;
        piece.origin = leaf_origin_;
        piece.begin = leaf_begin_;
        const uint64_t rest = leaf_->bytes - leaf_begin_;
        const uint64_t taken = std::min(rest, remaining_);
        piece.end = leaf_begin_ + taken;
        remaining_ -= taken;
        leaf_ = nullptr;
        return true;
    }

private:
    struct Frame {
        const Node *node;
        int64_t origin;
        uint64_t index;  // index of the iteration, entry or run
        uint64_t in_run; // for indexed: index of the child in the run
    };
    static constexpr uint32_t inline_frames = 24;

    void enter(Frame &f, const Node *&child, int64_t &origin) const {
        const Node &n = *f.node;
        switch (n.kind) {
        case NodeKind::strided:
            child = &layout_.nodes[n.child];
            origin = displace(f.origin, f.index, n.stride);
            return;
        case NodeKind::indexed_block:
            child = &layout_.nodes[n.child];
            origin = displace(f.origin, layout_.tables[n.table].displs[f.index]);
            return;
        case NodeKind::by_reference:
            child = &layout_.nodes[n.child];
            origin = displace(f.origin, displacement_at(layout_.index_lists[n.table], f.index));
            return;
        case NodeKind::indexed:
            child = &layout_.nodes[n.child];
            origin = displace(displace(f.origin, layout_.tables[n.table].displs[f.index]), f.in_run,
                              n.stride);
            return;
        case NodeKind::structure:
        case NodeKind::block: break;
        }
        const Table &t = layout_.tables[n.table];
        child = &layout_.nodes[t.children[f.index]];
        origin = displace(f.origin, t.displs[f.index]);
    }

    // The memory of a walk is proportional to the depth of the layout, not to its size.
    void grow() {
        std::unique_ptr<Frame[]> larger(new Frame[2 * std::size_t{room_}]); // not initialised
        std::copy_n(frames_, used_, larger.get());
        heap_ = std::move(larger);
        frames_ = heap_.get();
        room_ *= 2;
    }

    // Descends from `node`, placed at `origin`, to the leaf with its packed byte `offset`.
    void descend(const Node *node, int64_t origin, uint64_t offset) {
        while (!is_leaf_(*node)) {
            if (used_ == room_) [[unlikely]]
                grow();
            Frame &f = frames_[used_++];
            f = {node, origin, 0, 0};
            if (offset > 0) {
                switch (node->kind) {
                case NodeKind::strided:
                case NodeKind::indexed_block:
                case NodeKind::by_reference: {
                    const uint64_t each = layout_.nodes[node->child].bytes;
                    f.index = offset / each;
                    offset %= each;
                    break;
                }
                case NodeKind::indexed: {
                    const uint64_t each = layout_.nodes[node->child].bytes;
                    const auto &first = layout_.tables[node->table].first;
                    f.index = entry_holding(first, offset / each);
                    f.in_run = offset / each - first[f.index];
                    offset %= each;
                    break;
                }
                case NodeKind::structure: {
                    const auto &first = layout_.tables[node->table].first;
                    f.index = entry_holding(first, offset);
                    offset -= first[f.index];
                    break;
                }
                case NodeKind::block: break;
                }
            }
            enter(f, node, origin);
        }
        leaf_ = node;
        leaf_origin_ = origin;
        leaf_begin_ = offset;
    }

    // Moves to the leaf after the one yielded last, which exists because bytes remain.
    void advance() {
        for (;;) {
            Frame &f = frames_[used_ - 1];
            const Node &n = *f.node;
            if (n.kind == NodeKind::indexed) {
                const auto &first = layout_.tables[n.table].first;
                if (++f.in_run == first[f.index + 1] - first[f.index]) {
                    f.in_run = 0;
                    ++f.index;
                }
            } else {
                ++f.index;
            }
            if (f.index < n.count) {
                const Node *child;
                int64_t origin;
                enter(f, child, origin);
                if (is_leaf_(*child)) {
                    leaf_ = child;
                    leaf_origin_ = origin;
                    leaf_begin_ = 0;
                } else {
                    descend(child, origin, 0);
                }
                return;
            }
            --used_;
        }
    }

    const Layout &layout_;
    const Node &top_;
    int64_t origin_;
    IsLeaf is_leaf_;
    Frame inline_[inline_frames];
    std::unique_ptr<Frame[]> heap_;
    Frame *frames_ = inline_;
    uint32_t room_ = inline_frames, used_ = 0;
    uint64_t remaining_ = 0;
    const Node *leaf_ = nullptr;
    int64_t leaf_origin_ = 0;
    uint64_t leaf_begin_ = 0;
};

inline constexpr auto is_block = [](const Node &n) { return n.kind == NodeKind::block; };

// Whether the bytes [offset, offset + length) of a packed stream are consecutive in memory, too. If
// so, `first` is the displacement of the first one.
inline bool is_consecutive(const Layout &layout, const Node &top, uint64_t offset, uint64_t length,
                           int64_t &first) {
    Walk walk(layout, top, layout.start, is_block);
    walk.start(offset, length);
    int64_t next = 0;
    bool begun = false;
    for (Piece piece; walk.next(piece);) {
        const int64_t at = displace(piece.origin, static_cast<int64_t>(piece.begin));
        if (begun && at != next) return false;
        if (!begun) first = at;
        begun = true;
        next = displace(at, static_cast<int64_t>(piece.end - piece.begin));
    }
    return true;
}

} // namespace ucd
