// Compares the elements of two packed streams.
#pragma once

#include "layout_walk.h"
#include "move.h"
#include "prepared/type_cache.h"

#include <algorithm>

namespace ucd {

// Iterates over the stretches of equal elements in a range of a packed stream. The range must begin
// at an element boundary; a part of an element at its end is left out.
class ElementStretches {
public:
    ElementStretches(const Side &side, const Elements &elements, uint64_t length)
        : kind_(elements.kind), length_(length),
          top_(kind_ == Element::none
                   ? repeat(elements.runs.top(), elements.runs.root, side.count, elements.extent)
                   : Node{}),
          walk_(elements.runs, top_, 0, is_block) {
        if (kind_ == Element::none) walk_.start(side.offset, length);
    }

    // Sets the next stretch. Returns false if no whole element is left.
    bool next(Element &element, uint64_t &count) {
        element = kind_;
        uint64_t bytes = length_;
        length_ = 0;
        if (kind_ == Element::none) {
            Piece piece;
            if (!walk_.next(piece)) return false;
            element = piece.node->element;
            bytes = piece.end - piece.begin;
        }
        const uint32_t size = packed_size(element);
        count = size > 0 ? bytes / size : 0;
        return count > 0;
    }

private:
    Element kind_;
    uint64_t length_;
    Node top_;
    Walk<decltype(is_block)> walk_;
};

// Consecutive elements of one kind on each side.
struct MatchedRun {
    Element from = Element::none, to = Element::none;
    uint64_t count = 0;
    uint64_t from_bytes() const { return count * packed_size(from); }
    uint64_t to_bytes() const { return count * packed_size(to); }
};

// Iterates over the elements of ranges of two streams, of which the first ones belong together, and
// so on, up to the end of the range that has fewer elements.
class MatchedRuns {
public:
    MatchedRuns(const Side &from, const Elements &from_elements, uint64_t from_length,
                const Side &to, const Elements &to_elements, uint64_t to_length)
        : from_(from, from_elements, from_length), to_(to, to_elements, to_length) {}

    // Sets the next run of elements, as many as fit into so many bytes on each side. Returns false
    // if not even one fits, or if none is left.
    bool next(uint64_t from_room, uint64_t to_room, MatchedRun &run) {
        if (from_left_ == 0 && !from_.next(run_.from, from_left_)) return false;
        if (to_left_ == 0 && !to_.next(run_.to, to_left_)) return false;
        run_.count = std::min({from_left_, to_left_, from_room / packed_size(run_.from),
                               to_room / packed_size(run_.to)});
        from_left_ -= run_.count;
        to_left_ -= run_.count;
        run = run_;
        return run.count > 0;
    }

private:
    ElementStretches from_, to_;
    MatchedRun run_;
    uint64_t from_left_ = 0, to_left_ = 0; // elements of the current stretches
};

} // namespace ucd
