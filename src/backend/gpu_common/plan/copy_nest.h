// Ranges of two strided layouts as nests, whose levels have a stride on each side. A nest may be
// walked in any order.
#pragma once

#include "layout.h"
#include "plan/tuning.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace ucd::gpu {

// A list that is short, and made anew for each call.
template <class T, std::size_t room>
class ShortList {
public:
    static constexpr std::size_t max_size = room;

    void push_back(const T &item) { items_[size_++] = item; }
    void pop_back() { --size_; }
    void erase(T *item) {
        --size_;
        for (; item != end(); ++item) *item = item[1];
    }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) { return items_[i]; }
    const T &operator[](std::size_t i) const { return items_[i]; }
    const T &back() const { return items_[size_ - 1]; }
    T *begin() { return items_.data(); }
    T *end() { return items_.data() + size_; }
    const T *begin() const { return items_.data(); }
    const T *end() const { return items_.data() + size_; }

private:
    std::array<T, room> items_;
    std::size_t size_ = 0;
};

struct CopyNest {
    static constexpr std::size_t max_of_a_side = 8;
    struct Level {
        uint64_t count;
        int64_t from, to; // bytes from child to child
        friend bool operator==(const Level &, const Level &) = default;
    };
    uint64_t block = 0; // bytes that are consecutive on both sides
    // Joined, there may be more of them; and a last one for the words of a block.
    using Levels = ShortList<Level, 2 * max_of_a_side + 4>;
    Levels levels;
};

// One side of a range: bytes of the packed stream of a node, from `offset` on.
struct CopySide {
    const Layout &layout;
    const Node &top; // may stand outside of the layout's nodes
    uint64_t offset;
};

// A nest at the displacements of its first byte.
struct PlacedCopyNest {
    CopyNest nest;
    int64_t from, to;
};
// Whole children of a level; before and behind them, parts of children, which are cut in the same
// way.
using CopyNests = ShortList<PlacedCopyNest, 9>;

// The range as nests: one, if whole children of both sides begin and end together. False if a side
// is not strided, if their levels do not fit into each other, or if there is no room for all nests.
bool join_strides(const CopySide &from, const CopySide &to, uint64_t length, CopyNests &nests);

// Puts the level last whose children are closest on a side, and so on.
void sort_levels(CopyNest &nest, int64_t CopyNest::Level::*side);

// A level whose children are close on the other side, but which is not the innermost one, would be
// walked after everything else, when a cache has lost its lines. So the last level is cut in two,
// and such levels go between its parts.
void keep_neighbours_together(CopyNest &nest, int64_t CopyNest::Level::*other_side,
                              const Tuning &tuning);

// How often, on either side, a word is in another sector of memory than its neighbour, among the
// words of a warp. The last level is walked fastest.
uint64_t jumps_of(const CopyNest &nest, uint64_t word, const Tuning &tuning);

} // namespace ucd::gpu
