// Divides a range of a stream that is nested loops into parts that are nested loops again.
#pragma once

#include "loop_order.h"
#include "permute.h"

#include <algorithm>
#include <cstdint>

namespace ucd::seq {

// The loops from `level` on, with `count` iterations of the outermost, which begin at `first`. What
// lies before them is added to the addresses, as is all of a loop that has one iteration only.
inline Axes inner_axes(const Axes &axes, unsigned level, uint64_t first, uint64_t count,
                       uintptr_t &from, uintptr_t &to) {
    Axes inner;
    inner.block = axes.block;
    for (unsigned k = level; k < axes.count; ++k) inner.axis[inner.count++] = axes.axis[k];
    Axis &outermost = inner.axis[0];
    outermost.count = count;
    const auto advance = [&](Steps &steps, uintptr_t &at) {
        if (steps.displs != nullptr && count > 1)
            steps.displs += first;
        else
            at = displaced(at, displacement_of(steps, first));
    };
    advance(outermost.from, from);
    advance(outermost.to, to);
    return inner;
}

// Divides a range of the stream: run() calls whole(axes, from, to) for parts that are whole
// iterations of nested loops, and part(from, to, bytes) for parts of blocks. On each level there is
// a part of an iteration, whole iterations, and a part of another. The parts are divided in the
// same way; the last ones are parts of blocks.
template <class Whole, class Part>
class RangeOfAxes {
public:
    RangeOfAxes(const Axes &axes, const Whole &whole, const Part &part)
        : axes_(axes), whole_(whole), part_(part) {
        uint64_t bytes = axes.block;
        for (unsigned k = axes.count; k-- > 0; bytes *= axes.axis[k].count) each_[k] = bytes;
    }

    // The bytes [begin, end) of the loops from `level` on. `from` and `to` are the addresses of
    // their iteration 0. The count of the outermost loop is not used.
    void run(unsigned level, uint64_t begin, uint64_t end, uintptr_t from, uintptr_t to) const {
        if (level == axes_.count) return part_(from + begin, to + begin, end - begin);
        const uint64_t bytes = each_[level];
        if (begin % bytes != 0 || end - begin < bytes)
            begin = run_part(level, begin, std::min(end, (begin / bytes + 1) * bytes), from, to);
        if (const uint64_t whole = (end - begin) / bytes; whole > 0) {
            uintptr_t inner_from = from, inner_to = to;
            const Axes inner = inner_axes(axes_, level, begin / bytes, whole, inner_from, inner_to);
            whole_(inner, inner_from, inner_to);
            begin += whole * bytes;
        }
        if (begin < end) run_part(level, begin, end, from, to);
    }

private:
    // Within one iteration. Returns the end.
    uint64_t run_part(unsigned level, uint64_t begin, uint64_t end, uintptr_t from,
                      uintptr_t to) const {
        const uint64_t i = begin / each_[level], before = i * each_[level];
        const Axis &axis = axes_.axis[level];
        run(level + 1, begin - before, end - before, displaced(from, displacement_of(axis.from, i)),
            displaced(to, displacement_of(axis.to, i)));
        return end;
    }

    const Axes &axes_;
    const Whole &whole_;
    const Part &part_;
    uint64_t each_[max_axes]; // of the stream, in an iteration
};

} // namespace ucd::seq
