#include "routes/spans.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ucd_models {

namespace {

// Products of two lengths may exceed 64 bits before they are compared with a length.
__extension__ typedef __int128 Wide;

// As Python's %, for a positive divisor.
int64_t modulo(Wide number, int64_t divisor) {
    const auto rest = static_cast<int64_t>(number % divisor);
    return rest < 0 ? rest + divisor : rest;
}

// The inverse of a number modulo another to which it is coprime.
int64_t inverse(int64_t number, int64_t modulus) {
    int64_t rest = modulus, next = number % modulus, found = 0, factor = 1;
    while (next != 0) {
        const int64_t quotient = rest / next;
        rest = std::exchange(next, rest - quotient * next);
        found = std::exchange(factor, found - quotient * factor);
    }
    return modulo(found, modulus);
}

Run swapped(const Run &run) {
    return {run.target, run.source, run.block, run.target_step, run.source_step, run.count};
}

// Blocks j to j + count - 1 of b, of which the first is cut to [start, stop), and the others lie in
// it. `image` is what turns an index of the axis into one of the first part.
void add_blocks(int64_t start, int64_t stop, int64_t image, const Span &b, int64_t j, int64_t count,
                Runs &runs) {
    const int64_t at = b.start + j * b.stride;
    const int64_t low = std::max(at, start), high = std::min(at + b.block, stop);
    if (low >= high) return;
    Run run{image + low, b.local + j * b.step + low - at, high - low};
    if (count > 1) run.source_step = b.stride, run.target_step = b.step, run.count = count;
    runs.push_back(run);
}

// Adds what block k of a has in common with b: at most two blocks of b that are cut, and the whole
// ones between them.
void add_of_block(const Span &a, int64_t k, const Span &b, Runs &runs) {
    const int64_t start = a.start + k * a.stride, stop = start + a.block;
    const int64_t image = a.local + k * a.step - start;
    int64_t first = 0, last = 0;
    if (b.count > 1) {
        const int64_t before = start - b.start - b.block, within = stop - 1 - b.start;
        if (within < 0) return;
        first = before < 0 ? 0 : before / b.stride + 1;
        last = std::min(within / b.stride, b.count - 1);
    }
    if (first > last) return;
    add_blocks(start, stop, image, b, first, 1, runs);
    if (last - first > 1) add_blocks(start, stop, image, b, first + 1, last - first - 1, runs);
    if (last > first) add_blocks(start, stop, image, b, last, 1, runs);
}

void add_of_blocks(const Span &a, const Span &b, Runs &runs) {
    for (int64_t k = 0; k < a.count; ++k) add_of_block(a, k, b, runs);
}

// For each distance between a block of a and one of b at which they meet: the pairs of blocks at
// one distance are a progression, by the extended Euclidean algorithm. g: the gcd of the strides.
void add_of_periods(const Span &a, const Span &b, int64_t g, Runs &runs) {
    const int64_t period_a = b.stride / g, period_b = a.stride / g; // in blocks of a and of b
    const int64_t inverted = inverse(period_b, period_a);
    const int64_t lowest = 1 - b.block, apart = b.start - a.start;
    for (int64_t distance = lowest + modulo(apart - lowest, g); distance < a.block; distance += g) {
        const int64_t c = apart - distance;
        Wide i = modulo(Wide{c / g} * inverted, period_a);
        Wide j = (i * a.stride - c) / b.stride;
        if (j < 0) {
            const Wide skipped = (-j + period_b - 1) / period_b;
            i += skipped * period_a;
            j += skipped * period_b;
        }
        if (i >= a.count || j >= b.count) continue;
        const auto k = static_cast<int64_t>(i), l = static_cast<int64_t>(j);
        const int64_t low = std::max<int64_t>(distance, 0);
        Run run{a.local + k * a.step + low, b.local + l * b.step + low - distance,
                std::min(a.block, distance + b.block) - low};
        run.count = std::min((a.count - 1 - k) / period_a, (b.count - 1 - l) / period_b) + 1;
        if (run.count > 1) {
            run.source_step = period_a * a.step;
            run.target_step = period_b * b.step;
        }
        runs.push_back(run);
    }
}

// Adds a run of one block to the last run, if it is the next block there or follows it at once.
// Returns whether it did.
bool joined(Run &last, const Run &run) {
    const int64_t source = run.source - last.source, target = run.target - last.target;
    if (last.count == 1 && source == last.block && target == last.block) {
        last.block += run.block;
        return true;
    }
    if (last.block != run.block) return false;
    if (last.count == 1) {
        if (target <= 0) return false;
        last.source_step = source;
        last.target_step = target;
    } else if (source != last.source_step * last.count || target != last.target_step * last.count) {
        return false;
    }
    ++last.count;
    return true;
}

} // namespace

int64_t total(const Spans &spans) {
    int64_t found = 0;
    for (const Span &span : spans) found += span.block * span.count;
    return found;
}

void overlap(const Span &a, const Span &b, Runs &runs) {
    if (a.count == 1) return add_of_block(a, 0, b, runs);
    if (b.count > 1) {
        const int64_t g = std::gcd(a.stride, b.stride);
        const int64_t distances = (a.block + b.block) / g + 1;
        if (distances <= std::min(a.count, b.count)) return add_of_periods(a, b, g, runs);
        if (a.count <= b.count) return add_of_blocks(a, b, runs);
    }
    const std::size_t before = runs.size();
    add_of_blocks(b, a, runs);
    for (std::size_t k = before; k < runs.size(); ++k) runs[k] = swapped(runs[k]);
}

Runs simplified(Runs runs) {
    std::sort(runs.begin(), runs.end());
    Runs found;
    for (Run run : runs) {
        if (run.count > 1 && run.source_step == run.block && run.target_step == run.block)
            run = {run.source, run.target, run.block * run.count};
        if (run.count > 1 || found.empty() || !joined(found.back(), run)) found.push_back(run);
    }
    return found;
}

Spans composed(const Spans &outer, const Spans &inner) {
    Spans found;
    Runs runs;
    for (const Span &a : outer) {
        const Span of_part{a.local, a.start, a.block, a.step, a.stride, a.count};
        for (const Span &b : inner) {
            const Span &shared = b.turns > 1 ? b : a;
            runs.clear();
            overlap(of_part, b, runs);
            for (const Run &r : runs)
                found.push_back({r.source, r.target, r.block, r.source_step, r.target_step, r.count,
                                 shared.turn, shared.turns});
        }
    }
    return found;
}

namespace {

// Counts the indices of the source that are less than `stop`.
int64_t count_below(const Runs &runs, int64_t stop) {
    int64_t found = 0;
    for (const Run &r : runs) {
        if (r.source >= stop) continue;
        const int64_t within = stop - r.source;
        if (r.count == 1) {
            found += std::min(within, r.block);
            continue;
        }
        const int64_t whole = std::min(within / r.source_step, r.count);
        found += whole * r.block;
        if (whole < r.count) found += std::min(within - whole * r.source_step, r.block);
    }
    return found;
}

// Returns the least index below which the source has as many.
int64_t index_after(const Runs &runs, int64_t count) {
    int64_t low = 0, high = 0;
    for (const Run &r : runs)
        high = std::max(high, r.source + (r.count - 1) * r.source_step + r.block);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (count_below(runs, middle) < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

} // namespace

Runs part_of(const Runs &runs, int64_t number, int64_t parts) {
    int64_t total = 0;
    for (const Run &r : runs) total += r.block * r.count;
    const auto end_of = [&](int64_t part) {
        return static_cast<int64_t>(Wide{part} * total / parts);
    };
    return clipped(runs, index_after(runs, end_of(number)), index_after(runs, end_of(number + 1)));
}

Runs clipped(const Runs &runs, int64_t start, int64_t stop) {
    const Span window{start, start, stop - start};
    Runs found;
    for (const Run &r : runs)
        overlap(window, {r.source, r.target, r.block, r.source_step, r.target_step, r.count},
                found);
    return simplified(std::move(found));
}

} // namespace ucd_models
