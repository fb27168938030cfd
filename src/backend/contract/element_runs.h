// Finds the elements in a range of a packed stream, for reductions.
#pragma once

#include "layout_walk.h"
#include "move.h"

namespace ucd {

// Splits the stream bytes [offset, offset + length) of `count` repetitions into stretches of one
// element kind and calls run(element, begin, bytes) for each, in order. A stretch may begin `begin`
// bytes behind an element boundary and end within an element. run() returns false to stop.
template <class Run>
void for_each_element_run(const Elements &elements, uint64_t count, uint64_t offset,
                          uint64_t length, Run run) {
    if (length == 0) return;
    if (elements.kind != Element::none) {
        run(elements.kind, offset, length);
        return;
    }
    const Layout &runs = elements.runs;
    const Node top = repeat(runs.top(), runs.root, count, elements.extent);
    Walk walk(runs, top, 0, is_block);
    walk.start(offset, length);
    for (Piece piece; walk.next(piece);)
        if (!run(piece.node->element, piece.begin, piece.end - piece.begin)) return;
}

// The last element boundary at or below `position`, which must lie before the end of the stream.
inline uint64_t element_floor_within(const Elements &elements, uint64_t count, uint64_t position) {
    uint64_t within = 0;
    for_each_element_run(elements, count, position, 1, [&](Element e, uint64_t begin, uint64_t) {
        within = begin % packed_size(e);
        return false;
    });
    return position - within;
}

// Same, but `position` may also be the end of the stream, `total`.
inline uint64_t element_floor(const Elements &elements, uint64_t count, uint64_t total,
                              uint64_t position) {
    return position == total ? position : element_floor_within(elements, count, position);
}

} // namespace ucd
