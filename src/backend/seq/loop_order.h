// Sorts the loops of a move between two sides by what they are for: those that are fastest on
// either side form a matrix, and the others run around it.
#pragma once

#include "permute.h"
#include "transpose.h"

#include <algorithm>
#include <cstdint>

namespace ucd::seq {

inline constexpr uint64_t line = 64; // bytes of a cache line

inline uint64_t magnitude(int64_t v) {
    return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

// The distance of the first two iterations.
inline uint64_t distance(const Steps &steps) {
    return magnitude(steps.displs != nullptr ? displace(steps.displs[1], -steps.displs[0])
                                             : steps.stride);
}

inline int64_t displacement_of(const Steps &steps, uint64_t i) {
    return steps.displs != nullptr ? steps.displs[i] : displace(0, i, steps.stride);
}

inline uintptr_t displaced(uintptr_t at, int64_t displacement) {
    return at + static_cast<uintptr_t>(displacement);
}

// Loops that are contiguous on one side, the fastest first: together, they are one loop there.
struct JoinedAxes {
    const Axis *axis[max_axes];
    unsigned count = 0;
    uint64_t total = 1; // iterations

    void add(const Axis &a) {
        axis[count++] = &a;
        total *= a.count;
    }

    // Where the iterations [first, first + number) lie on a side.
    void list(Steps Axis::*side, uint64_t first, uint64_t number, int64_t *displs) const {
        if (count == 0) {
            *displs = 0;
            return;
        }
        uint64_t index[max_axes], rest = first;
        for (unsigned k = 0; k < count; ++k) {
            index[k] = rest % axis[k]->count;
            rest /= axis[k]->count;
        }
        while (number > 0) {
            int64_t base = 0;
            for (unsigned k = 1; k < count; ++k)
                base = displace(base, displacement_of(axis[k]->*side, index[k]));
            const Steps &steps = axis[0]->*side;
            const uint64_t here = std::min(axis[0]->count - index[0], number);
            if (steps.displs != nullptr) {
                for (uint64_t i = 0; i < here; ++i)
                    displs[i] = displace(base, steps.displs[index[0] + i]);
            } else {
                int64_t at = displace(base, index[0], steps.stride);
                for (uint64_t i = 0; i < here; ++i, at = displace(at, steps.stride)) displs[i] = at;
            }
            displs += here;
            number -= here;
            index[0] = 0;
            for (unsigned k = 1; k < count && ++index[k] == axis[k]->count; ++k) index[k] = 0;
        }
    }
};

// The loops of a move, sorted by what they are for.
struct LoopOrder {
    uint64_t block, to_block;     // bytes of an entry on either side, which differ in conversions
    JoinedAxes columns, rows;     // the fastest on the `from` side, and on the other
    const Axis *others[max_axes]; // the outermost first
    unsigned others_count = 0;

    explicit LoopOrder(const Axes &axes) : LoopOrder(axes, axes.block, axes.block) {}

    LoopOrder(const Axes &axes, uint64_t from_bytes, uint64_t to_bytes)
        : block(from_bytes), to_block(to_bytes) {
        for (unsigned k = 0; k < axes.count; ++k)
            if (axes.axis[k].count > 1) others[others_count++] = &axes.axis[k];
        join_block();
        join(columns, &Axis::from);
        join(rows, &Axis::to);
        // A loop that both could have goes to those that are fewer.
        while (rows.total <= columns.total
                   ? extend(rows, &Axis::to) || extend(columns, &Axis::from)
                   : extend(columns, &Axis::from) || extend(rows, &Axis::to)) {
        }
        // Inner loops are those that step over few bytes on one of the sides: what they leave of
        // cache lines and pages is then used soon.
        const auto reach = [](const Axis *a) {
            return std::min(distance(a->from), distance(a->to));
        };
        std::stable_sort(others, others + others_count,
                         [&](const Axis *a, const Axis *b) { return reach(a) > reach(b); });
    }

    // Whether blocks of the few lines of `few` alternate on one side, without gaps, while both are
    // contiguous on the other.
    bool interleaves(const JoinedAxes &few, const JoinedAxes &many, Steps Axis::*apart,
                     Steps Axis::*together) const {
        if (few.count == 0 || few.total > max_interleaved || many.count != 1 ||
            (block != 1 && block != 2 && block != 4) || many.total < 16 / block)
            return false;
        const auto steps = [](const Axis *axis, Steps Axis::*side, uint64_t bytes) {
            return (axis->*side).displs == nullptr &&
                   (axis->*side).stride == static_cast<int64_t>(bytes);
        };
        return steps(many.axis[0], apart, block) &&
               steps(many.axis[0], together, block * few.total) &&
               steps(few.axis[0], together, block);
    }

    bool is_contiguous(const JoinedAxes &joined, Steps Axis::*side) const {
        const Steps &steps = joined.axis[0]->*side;
        return steps.displs == nullptr && steps.stride == static_cast<int64_t>(block_of(side));
    }

private:
    uint64_t block_of(Steps Axis::*side) const { return side == &Axis::from ? block : to_block; }

    const Axis *take(unsigned k) {
        const Axis *const taken = others[k];
        std::copy(others + k + 1, others + others_count, others + k);
        --others_count;
        return taken;
    }

    // The loop whose iterations are `bytes` apart; others_count if there is none.
    unsigned find(Steps Axis::*side, uint64_t bytes) const {
        unsigned k = 0;
        while (k < others_count && ((others[k]->*side).displs != nullptr ||
                                    (others[k]->*side).stride != static_cast<int64_t>(bytes)))
            ++k;
        return k;
    }

    // Loops that are contiguous on both sides make larger blocks.
    void join_block() {
        for (unsigned k; (k = find(&Axis::from, block)) < others_count;) {
            if (others[k]->to.displs != nullptr ||
                others[k]->to.stride != static_cast<int64_t>(to_block))
                return;
            const uint64_t count = take(k)->count;
            block *= count;
            to_block *= count;
        }
    }

    // The entries of a line are equally far apart, so a loop that is listed on this side cannot be
    // among them. In a part of a move, there may be no other loops.
    void join(JoinedAxes &joined, Steps Axis::*side) {
        unsigned best = others_count;
        for (unsigned k = 0; k < others_count; ++k)
            if ((others[k]->*side).displs == nullptr &&
                (best == others_count ||
                 distance(others[k]->*side) < distance(others[best]->*side)))
                best = k;
        if (best < others_count) joined.add(*take(best));
    }

    // Adds a loop unless there are enough iterations for whole cache lines and tiles, or none fits.
    bool extend(JoinedAxes &joined, Steps Axis::*side) {
        constexpr uint64_t enough = 256;
        if (joined.count == 0 || joined.total >= enough || !is_contiguous(joined, side))
            return false;
        const unsigned k = find(side, block_of(side) * joined.total);
        if (k == others_count) return false;
        joined.add(*take(k));
        return true;
    }
};

// The sum of the displacements of the iterations `index` of the loops around the matrix.
inline int64_t place_of(const LoopOrder &loops, const uint64_t *index, Steps Axis::*side) {
    int64_t at = 0;
    for (unsigned k = 0; k < loops.others_count; ++k)
        at = displace(at, displacement_of(loops.others[k]->*side, index[k]));
    return at;
}

// Goes on to the next iteration of the loops around the matrix. Returns false behind the last one.
inline bool advance(const LoopOrder &loops, uint64_t *index) {
    unsigned k = loops.others_count;
    while (k > 0 && ++index[k - 1] == loops.others[k - 1]->count) index[--k] = 0;
    return k > 0;
}

} // namespace ucd::seq
