// Strided runs of indices of an axis, and what two lists of them have in common: by arithmetic, not
// index by index. Nothing here knows Python.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace ucd_models {

// Blocks of consecutive indices of an axis that one part has: block k covers
// [start + k stride, start + k stride + block), and lies at index local + k step of the part.
struct Span {
    int64_t start, local, block;
    int64_t stride = 0, step = 0, count = 1; // stride and step are 0 where there is one block
    // Several parts may have the same span: `turns` of them, of which this one is number `turn`.
    int64_t turn = 0, turns = 1;
};

// Blocks that two parts have in common: block k is at index source + k source_step of the first
// part, and at target + k target_step of the second.
struct Run {
    int64_t source, target, block;
    int64_t source_step = 0, target_step = 0, count = 1;
    auto operator<=>(const Run &) const = default;
};

using Spans = std::vector<Span>;
using Runs = std::vector<Run>;

// Counts the indices.
int64_t total(const Spans &spans);

// Adds what two spans have in common. The number of runs is bounded by three times the blocks of
// either span, and by the distances at which blocks can meet.
void overlap(const Span &a, const Span &b, Runs &runs);

// Returns the same blocks in fewer runs, in the order of the source: joins those that follow each
// other, and counts those at equal distances.
Runs simplified(Runs runs);

// Translates inner spans, of a part's indices, to the axis that the outer spans are of.
Spans composed(const Spans &outer, const Spans &inner);

// Returns what of the runs lies at the source's indices from start to stop.
Runs clipped(const Runs &runs, int64_t start, int64_t stop);

// Returns one of as many parts of the runs as are asked for, whose lengths differ by no more than
// an index. Parts are in the order of the source.
Runs part_of(const Runs &runs, int64_t number, int64_t parts);

} // namespace ucd_models
