#include "permute.h"

#include "cpu_tuning.h"
#include "kernel_tables.h"

#include <algorithm>
#include <cstring>

namespace ucd::seq {
namespace {

constexpr uint64_t line = 64; // bytes of a cache line

uint64_t magnitude(int64_t v) {
    return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

// The distance of the first two iterations.
uint64_t distance(const Steps &steps) {
    return magnitude(steps.displs != nullptr ? displace(steps.displs[1], -steps.displs[0])
                                             : steps.stride);
}

int64_t displacement_of(const Steps &steps, uint64_t i) {
    return steps.displs != nullptr ? steps.displs[i] : displace(0, i, steps.stride);
}

uintptr_t displaced(uintptr_t at, int64_t displacement) {
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
    uint64_t block;
    JoinedAxes columns, rows;     // the fastest on the `from` side, and on the other
    const Axis *others[max_axes]; // the outermost first
    unsigned others_count = 0;

    explicit LoopOrder(const Axes &axes) : block(axes.block) {
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

private:
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
                others[k]->to.stride != static_cast<int64_t>(block))
                return;
            block *= take(k)->count;
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
        if (joined.count == 0 || joined.total >= enough) return false;
        const Steps &first = joined.axis[0]->*side;
        if (first.displs != nullptr || first.stride != static_cast<int64_t>(block)) return false;
        const unsigned k = find(side, block * joined.total);
        if (k == others_count) return false;
        joined.add(*take(k));
        return true;
    }
};

// The iterations of joined loops in portions of similar length, each of whole cache lines where
// possible.
struct Portions {
    static constexpr uint64_t longest = 1024;
    uint64_t total, each;

    // `listed`: whether their lines must be listed.
    Portions(uint64_t iterations, bool listed) : total(iterations), each(iterations) {
        if (!listed) return;
        const uint64_t pieces = (total + longest - 1) / longest;
        each = (total + pieces - 1) / pieces;
        each = std::min((each + line - 1) / line * line, longest);
    }
    bool one() const { return total <= each; }
};

void move_whole(const Axes &axes, uintptr_t from, uintptr_t to) {
    const LoopOrder loops(axes);
    if (loops.columns.count == 0 && loops.rows.count == 0 && loops.others_count == 0) {
        std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), loops.block);
        return;
    }
    uint64_t bytes = loops.block * loops.columns.total * loops.rows.total;
    for (unsigned k = 0; k < loops.others_count; ++k) bytes *= loops.others[k]->count;

    const TransposeKernel kernel = transpose_kernel(leaf_for_block(loops.block));
    int64_t from_lines[Portions::longest], to_lines[Portions::longest];
    const bool to_adjacent = loops.interleaves(loops.rows, loops.columns, &Axis::from, &Axis::to);
    // A small square is both, and its lines must be listed on one side.
    const bool from_adjacent =
        !to_adjacent && loops.interleaves(loops.columns, loops.rows, &Axis::to, &Axis::from);
    const Portions rows(loops.rows.total, !from_adjacent),
        columns(loops.columns.total, !to_adjacent);
    const bool listed_once = rows.one() && columns.one();
    Matrix m{};
    m.from_lines = from_lines;
    m.to_lines = to_lines;
    m.from_step = loops.columns.count > 0 ? loops.columns.axis[0]->from.stride : 0;
    m.to_step = loops.rows.count > 0 ? loops.rows.axis[0]->to.stride : 0;
    m.block = loops.block;
    m.from_adjacent = from_adjacent;
    m.to_adjacent = to_adjacent;
    m.past_caches = bytes >= past_caches;
    const auto list_lines = [&](uint64_t row, uint64_t column) {
        loops.rows.list(&Axis::from, row, from_adjacent ? 1 : m.from_count, from_lines);
        loops.columns.list(&Axis::to, column, to_adjacent ? 1 : m.to_count, to_lines);
    };

    const auto move_piece = [&](uint64_t row, uint64_t column, int64_t from_at, int64_t to_at) {
        m.from_count = std::min(rows.each, rows.total - row);
        m.to_count = std::min(columns.each, columns.total - column);
        if (!listed_once) list_lines(row, column);
        m.from = displaced(displaced(from, from_at), displace(0, column, m.from_step));
        m.to = displaced(displaced(to, to_at), displace(0, row, m.to_step));
        kernel(m);
    };
    if (listed_once) {
        m.from_count = rows.total;
        m.to_count = columns.total;
        list_lines(0, 0);
    }
    uint64_t index[max_axes] = {};
    for (;;) {
        int64_t from_at = 0, to_at = 0;
        for (unsigned k = 0; k < loops.others_count; ++k) {
            from_at = displace(from_at, displacement_of(loops.others[k]->from, index[k]));
            to_at = displace(to_at, displacement_of(loops.others[k]->to, index[k]));
        }
        for (uint64_t row = 0; row < rows.total; row += rows.each)
            for (uint64_t column = 0; column < columns.total; column += columns.each)
                move_piece(row, column, from_at, to_at);
        unsigned k = loops.others_count;
        while (k > 0 && ++index[k - 1] == loops.others[k - 1]->count) index[--k] = 0;
        if (k == 0) return;
    }
}

// The loops from `level` on, with `count` iterations of the outermost, which begin at `first`. What
// lies before them is added to the addresses, as is all of a loop that has one iteration only.
Axes inner_axes(const Axes &axes, unsigned level, uint64_t first, uint64_t count, uintptr_t &from,
                uintptr_t &to) {
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

} // namespace

void permute(const Axes &axes, uint64_t begin, uint64_t end, uintptr_t from, uintptr_t to) {
    uint64_t each[max_axes + 1]; // packed bytes of an iteration
    each[axes.count] = axes.block;
    for (unsigned k = axes.count; k-- > 0;)
        each[k] = k + 1 == axes.count ? axes.block : each[k + 1] * axes.axis[k + 1].count;
    // A part of an iteration, whole iterations, and a part of another, for each level. The parts
    // are divided in the same way; the last ones are parts of blocks.
    struct Descent {
        const Axes &axes;
        const uint64_t *each;

        void run(unsigned level, uint64_t begin, uint64_t end, uintptr_t from, uintptr_t to) const {
            if (level == axes.count) {
                std::memcpy(reinterpret_cast<void *>(to + begin),
                            reinterpret_cast<void *>(from + begin), end - begin);
                return;
            }
            const uint64_t bytes = each[level];
            if (begin % bytes != 0 || end - begin < bytes)
                begin =
                    run_part(level, begin, std::min(end, (begin / bytes + 1) * bytes), from, to);
            if (const uint64_t whole = (end - begin) / bytes; whole > 0) {
                uintptr_t inner_from = from, inner_to = to;
                const Axes inner =
                    inner_axes(axes, level, begin / bytes, whole, inner_from, inner_to);
                move_whole(inner, inner_from, inner_to);
                begin += whole * bytes;
            }
            if (begin < end) run_part(level, begin, end, from, to);
        }

        // Within one iteration. Returns the end.
        uint64_t run_part(unsigned level, uint64_t begin, uint64_t end, uintptr_t from,
                          uintptr_t to) const {
            const uint64_t i = begin / each[level], before = i * each[level];
            const Axis &axis = axes.axis[level];
            run(level + 1, begin - before, end - before,
                displaced(from, displacement_of(axis.from, i)),
                displaced(to, displacement_of(axis.to, i)));
            return end;
        }
    };
    Descent{axes, each}.run(0, begin, end, from, to);
}

bool find_axes(const Layout &layout, const Node &top, Axes &axes) {
    axes.count = 0;
    const Node *n = &top;
    for (; n->kind != NodeKind::block; n = &layout.nodes[n->child]) {
        if (axes.count == max_axes) return false;
        Axis &axis = axes.axis[axes.count++];
        axis = {n->count, {n->stride, nullptr}, {0, nullptr}};
        axis.to.stride = static_cast<int64_t>(layout.nodes[n->child].bytes);
        if (n->kind == NodeKind::indexed_block)
            axis.from.displs = layout.tables[n->table].displs.data();
        else if (n->kind != NodeKind::strided)
            return false;
    }
    axes.block = n->bytes;
    return true;
}

bool is_permuted(const Axes &given, bool open_ended) {
    if (given.count < 2 || given.block >= line) return false;
    Axes axes = given;
    constexpr uint64_t many = 1 << 20;
    if (open_ended) axes.axis[0].count = many;
    const Axis &packed_fastest = given.axis[given.count - 1];
    if (packed_fastest.from.displs != nullptr) return false;
    const LoopOrder loops(axes);
    if (loops.block != given.block || loops.columns.count == 0 || loops.rows.count == 0)
        return false;
    if (loops.interleaves(loops.rows, loops.columns, &Axis::from, &Axis::to) ||
        loops.interleaves(loops.columns, loops.rows, &Axis::to, &Axis::from))
        return true;
    const uint64_t block = loops.block, side = 4; // of the smallest tiles
    const Axis &column = *loops.columns.axis[0];
    if (distance(column.from) >= line) return false;
    for (unsigned k = 0; k < axes.count; ++k)
        if (const Axis &a = axes.axis[k];
            a.count > 1 && a.from.displs != nullptr && distance(a.from) < distance(column.from))
            return false;
    if (loops.columns.total < side) return false;
    const bool words = (block & (block - 1)) == 0 && block <= 16;
    const bool vectors = words && column.from.stride == static_cast<int64_t>(block);
    if (distance(packed_fastest.from) >= line) return loops.rows.total >= side;
    const uint64_t vector_side = std::max(side, 8 / block);
    return vectors && loops.rows.total >= vector_side && loops.columns.total >= vector_side;
}

bool pays_in_one_pass(const Axes &axes) {
    const LoopOrder loops(axes);
    const uint64_t block = loops.block;
    if (loops.columns.count == 0 || block >= line) return true;
    if (loops.rows.count == 0) return false;
    if (loops.interleaves(loops.rows, loops.columns, &Axis::from, &Axis::to) ||
        loops.interleaves(loops.columns, loops.rows, &Axis::to, &Axis::from))
        return true;
    const auto contiguous = [block](const Steps &steps) {
        return steps.displs == nullptr && steps.stride == static_cast<int64_t>(block);
    };
    const uint64_t side = std::max<uint64_t>(4, 8 / block);
    return (block & (block - 1)) == 0 && block <= 16 && loops.rows.total >= side &&
           loops.columns.total >= side && contiguous(loops.columns.axis[0]->from) &&
           contiguous(loops.rows.axis[0]->to);
}

Axes exchanged(const Axes &axes) {
    Axes result = axes;
    for (unsigned k = 0; k < axes.count; ++k) std::swap(result.axis[k].from, result.axis[k].to);
    return result;
}

} // namespace ucd::seq
