// Ranges of two strided layouts as nests, whose levels have a stride for each side. A nest may be
// walked in any order.
#pragma once

#include "layout.h"
#include "plan/tuning.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ucd::gpu {

// A list of limited size without allocations, since it is made anew for each call.
template <class T, std::size_t room>
class BoundedList {
public:
    static constexpr std::size_t max_size = room;

    // These write no items beyond those of the list. No list is assigned to itself.
    BoundedList() {}
    BoundedList(const BoundedList &other) { *this = other; }
    BoundedList &operator=(const BoundedList &other) {
        size_ = other.size_;
        std::copy(other.begin(), other.end(), begin());
        return *this;
    }

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
        int64_t from, to; // strides in bytes
        friend bool operator==(const Level &, const Level &) = default;
    };
    uint64_t block = 0; // number of bytes, or units, that are contiguous on both sides
    // Joining may increase the number of levels; the last one is for the words of a block.
    using Levels = BoundedList<Level, 2 * max_of_a_side + 4>;
    Levels levels;

    uint64_t bytes() const {
        uint64_t bytes = block;
        for (const Level &level : levels) bytes *= level.count;
        return bytes;
    }
};

// One side of a range: units of the packed stream of a node, from `offset` on. Units are bytes, or
// the elements of a conversion, so that both sides have streams of the same length.
struct CopySide {
    const Layout &layout;
    const Node &top; // need not be a node of the layout
    uint64_t offset; // in units
    uint32_t unit = 1;
};

// A nest and the displacements of its first byte.
struct PlacedCopyNest {
    CopyNest nest;
    int64_t from, to;
};
// The nests of a range: whole children of a level in the middle, and parts of children before and
// after them, which are divided in the same way.
using CopyNests = BoundedList<PlacedCopyNest, 9>;

// Divides a range of so many units into nests. One nest suffices if whole children of both sides
// begin and end together. False if a side is not strided, if it has parts of units, if the levels
// of the sides do not fit into each other, or if there are too many nests.
bool join_strides(const CopySide &from, const CopySide &to, uint64_t length, CopyNests &nests);

// Sorts the levels so that the one with the shortest stride on that side is last.
void sort_levels(CopyNest &nest, int64_t CopyNest::Level::*side);

// A level with a short stride on the other side that is not the innermost one would be walked after
// all inner levels, when a cache has evicted its lines. Therefore the last level is split, and such
// levels are put between its two parts.
void keep_neighbours_together(CopyNest &nest, int64_t CopyNest::Level::*other_side,
                              const Tuning &tuning);

// The number of words of a warp that are in another memory sector than the word before, summed over
// both sides. The last level is walked fastest.
uint64_t jumps_of(const CopyNest &nest, uint64_t word, const Tuning &tuning);

} // namespace ucd::gpu
