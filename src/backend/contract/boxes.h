// Enumerates the boxes of a layout in packed order. All code that needs boxes uses this
// enumeration.
#pragma once

#include "box_index.h"

namespace ucd {

// The boxes of `count` repetitions, `extent` bytes apart, or of a range of their packed stream:
//
//   a block, or up to four strided levels over one   is one box
//   more strided levels, and strides over lists      are their children's boxes, one by one
//   a list of boxes                                  is one box for each stretch of equal distances
//   other lists and structures                       are their children's boxes, one by one
class Boxes {
public:
    Boxes(const Layout &layout, const BoxIndex &index, uint64_t count, int64_t extent)
        : layout_(layout), index_(index),
          repeated_(count == 1 ? Node{} : repeat(layout.top(), layout.root, count, extent)),
          top_(count == 1 ? layout.top() : repeated_),
          walk_(layout, top_, layout.start, IsOfBoxes{layout}) {}

    uint64_t bytes() const { return top_.bytes; }
    uint64_t total() const { return index_.boxes(top_); }
    // The packed position at which box number `box` < total() begins.
    uint64_t position(uint64_t box) const { return index_.position(top_, box); }

    // start() selects the packed bytes [offset, offset + length), and each next() returns one of
    // their boxes. The first and the last box are cut to the range, which may split them into
    // several.
    void start(uint64_t offset, uint64_t length) {
        walk_.start(offset, length);
        offset_ = offset;
        list_ = nullptr;
        cut_ = cuts_ = 0;
    }

    bool next(Box &box) {
        for (;;) {
            if (cut_ < cuts_) {
                box = cuts_of_box_[cut_++];
                return true;
            }
            if (list_ == nullptr) {
                if (!walk_.next(piece_)) return false;
                const Node &node = *piece_.node;
                if (box_levels(layout_, node) != no_box) {
                    box = box_of(layout_, node, piece_.origin, offset_ - piece_.begin);
                    offset_ += piece_.end - piece_.begin;
                    if (cut(box, piece_.begin, piece_.end)) continue;
                    return true;
                }
                list_ = &node;
                entries_ =
                    index_.box_with_entry(node, BoxList(layout_, node).entry_at(piece_.begin));
            } else {
                entries_ = index_.box_after(*list_, entries_);
            }
            const BoxList list(layout_, *list_);
            const uint64_t first = list.packed(entries_.first), end = list.packed(entries_.end);
            box = list.box(entries_.first, entries_.end, piece_.origin, offset_ - piece_.begin);
            const uint64_t from = std::max(first, piece_.begin), to = std::min(end, piece_.end);
            if (end >= piece_.end) {
                list_ = nullptr;
                offset_ += piece_.end - piece_.begin;
            }
            if (!cut(box, from - first, to - first)) return true;
        }
    }

private:
    struct IsOfBoxes {
        const Layout &layout;
        bool operator()(const Node &n) const {
            return box_levels(layout, n) != no_box || BoxList::is(layout, n);
        }
    };

    // If only a part of the box is in the range, cuts the box and returns true.
    bool cut(const Box &box, uint64_t begin, uint64_t end) {
        if (begin == 0 && end == bytes_of(box)) return false;
        cut_ = cuts_ = 0;
        const auto store = [this](const Box &part) { cuts_of_box_[cuts_++] = part; };
        cut_box(box, begin, end, store);
        return true;
    }

    const Layout &layout_;
    const BoxIndex &index_;
    const Node repeated_;
    const Node &top_;
    Walk<IsOfBoxes> walk_;
    uint64_t offset_ = 0; // in the stream, of the node that the walk yielded last or yields next
    Piece piece_{};
    const Node *list_ = nullptr; // the list whose boxes are being returned
    BoxIndex::Entries entries_{};
    Box cuts_of_box_[max_cuts];
    uint32_t cut_ = 0, cuts_ = 0;
};

} // namespace ucd
