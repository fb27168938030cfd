// Folds lists of displacements: regular lists become strides. The result depends on the list alone.

#include "layout/normalise/builder.h"
#include "layout/normalise/period.h"
#include "layout_walk.h"
#include "support/list_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace ucd {
namespace {

// The unit of lengths is the largest power of two that divides them all, up to this many bytes.
constexpr uint64_t max_unit = 16;

// The step that more than half of the steps are equal to, if there is one; any step otherwise.
int64_t majority_step(const std::vector<int64_t> &displs) {
    int64_t candidate = 0;
    std::size_t votes = 0;
    for (std::size_t i = 1; i < displs.size(); ++i) {
        const int64_t s = step_to(displs, i);
        if (votes == 0) candidate = s;
        votes = s == candidate ? votes + 1 : votes - 1;
    }
    return candidate;
}

template <class T>
void truncate(std::vector<T> &v, std::size_t n) {
    v.resize(n);
    v.shrink_to_fit();
}

// Keeps every `by`-th entry.
void thin(std::vector<int64_t> &displs, std::size_t by) {
    const std::size_t n = displs.size() / by;
    for (std::size_t i = 0; i < n; ++i) displs[i] = displs[i * by];
    displs.resize(n);
}

// Joins blocks to runs. Block i has sums(i + 1) - sums(i) children of `each` bytes; it may be
// empty. Runs are collected in a buffer that stays in a cache, without branches that depend on the
// list. Their displacements are passed to store(displs, number) after each part of the blocks.
// `room` is the maximum number of runs.
template <class Sums, class Store>
void collect_runs(std::span<const int64_t> displs, Sums sums, uint64_t each, std::size_t room,
                  BlockRuns &r, Store store) {
    constexpr std::size_t part = 256;
    std::array<int64_t, part> some;
    std::array<uint64_t, part> before; // the number of units before each run
    r.each = std::min(each & (~each + 1), max_unit);
    r.first = take_list<uint64_t>(room + 1); // performance only: the list would grow otherwise
    const uint64_t times = each / r.each;
    const int64_t *const list = displs.data();
    const std::size_t count = displs.size();
    std::size_t i = 0; // the first block that is not empty
    while (i < count && sums(i + 1) == sums(i)) ++i;
    uint64_t end = i < count ? ~static_cast<uint64_t>(list[i]) : 0; // not where that begins
    while (i < count) {
        std::size_t used = 0;
        for (const std::size_t last = std::min(count, i + part); i < last; ++i) {
            const auto at = static_cast<uint64_t>(list[i]);
            const uint64_t length = sums(i + 1) - sums(i);
            const bool full = length != 0;
            some[used] = list[i];
            before[used] = sums(i) * times;
            used += full & (at != end);
            end = full ? at + length * each : end;
        }
        store(some.data(), used);
        r.first.insert(r.first.end(), before.data(), before.data() + used);
    }
    r.first.push_back(sums(count) * times);
}

} // namespace

Placed Builder::fold_blocks(BlockList list) {
    if (list.displs.empty()) return {};
    std::vector<uint64_t> &first = list.bytes; // becomes the number of bytes before each block
    uint64_t sum = 0;
    for (uint64_t &bytes : first) bytes = std::exchange(sum, sum + bytes);
    first.push_back(sum);
    return fold_blocks_of(std::move(list.displs), first, 1, list.element);
}

Placed Builder::fold_blocks_of(std::vector<int64_t> displs, std::span<const uint64_t> first,
                               uint64_t each, Element element) {
    const std::size_t blocks = displs.size();
    BlockRuns runs;
    std::size_t kept = 0; // the displacements of runs take the place of those of blocks
    const auto store = [&](const int64_t *some, std::size_t number) {
        std::copy_n(some, number, displs.data() + kept);
        kept += number;
    };
    collect_runs(
        displs, [first](std::size_t i) { return first[i]; }, each, blocks, runs, store);
    displs.resize(kept);
    runs.displs = std::move(displs);
    runs.element = element;
    if (kept < blocks) applied("merge-touching");
    return fold_runs(std::move(runs));
}

Placed Builder::fold_equal_blocks(std::vector<int64_t> displs, uint64_t bytes, Element element,
                                  const ListLook *known) {
    const ListLook look = known != nullptr ? *known : look_at(displs, static_cast<int64_t>(bytes));
    if (look.steps == 0) return fold_displs(std::move(displs), block(0, bytes, element), &look);
    applied("merge-touching");
    BlockRuns runs;
    const std::size_t room = displs.size() - look.steps;
    runs.displs = take_list<int64_t>(room);
    const auto store = [&](const int64_t *some, std::size_t number) {
        runs.displs.insert(runs.displs.end(), some, some + number);
    };
    collect_runs(
        displs, [](std::size_t i) { return i; }, bytes, room, runs, store);
    runs.element = element;
    if (max_bytes_ == UINT64_MAX && displs.size() <= max_kept_pieces * runs.displs.size())
        runs.pieces = std::move(displs);
    else
        keep_list(displs); // performance only: reuses the memory instead of freeing it
    return fold_runs(std::move(runs));
}

Placed Builder::fold_runs(BlockRuns runs) {
    const std::size_t n = runs.displs.size();
    if (n == 0) return {};
    std::vector<uint64_t> &first = runs.first;
    if (n == 1) return block(runs.displs[0], first[1] * runs.each, runs.element);
    const LengthLook look = look_at_lengths(first);
    if (look.uniform) {
        const Placed one = block(0, first[1] * runs.each, runs.element);
        keep_list(first);
        keep_list(runs.pieces);
        return fold_displs(std::move(runs.displs), one);
    }
    const std::size_t p = shortest_period(
        n, [&](auto i, auto j) { return step_to(runs.displs, i) == step_to(runs.displs, j); },
        [&](auto i, auto j) { return first[i + 1] - first[i] == first[j + 1] - first[j]; });
    if (p < n) {
        applied("period");
        const auto stride = step_between(runs.displs[0], runs.displs[p]);
        truncate(runs.displs, p);
        truncate(first, p + 1);
        runs.pieces = {};
        return make_strided(n / p, stride, fold_runs(std::move(runs)));
    }
    const uint64_t unit = std::min((look.bits & (~look.bits + 1)) * runs.each, max_unit);
    if (unit != runs.each) {
        const int shift = std::countr_zero(unit / runs.each);
        for (uint64_t &f : first) f >>= shift;
        // A piece must be a whole number of children.
        if (first.back() % std::max<std::size_t>(runs.pieces.size(), 1) != 0)
            keep_list(runs.pieces);
    }
    const Placed one = block(0, unit, runs.element);
    return make_indexed(std::move(runs.displs), std::move(first), static_cast<int64_t>(unit), one,
                        std::move(runs.pieces));
}

// Equal children at displacements relative to the child's own.
Placed Builder::fold_displs(std::vector<int64_t> displs, Placed child, const ListLook *look) {
    for (;; look = nullptr) {
        const std::size_t n = displs.size();
        if (n == 1) return {displace(child.at, displs[0]), child.id};
        const int64_t first_step = step_to(displs, 1);
        const std::size_t run = common_run(displs, first_step);
        if (run > 1) {
            applied("progression");
            child = strided_without_expansion(run, first_step, child);
            thin(displs, run);
            continue;
        }
        const std::size_t p = shortest_period(
            n, [&](auto i, auto j) { return step_to(displs, i) == step_to(displs, j); },
            [](auto, auto) { return true; });
        if (p < n) {
            applied("period");
            const auto stride = step_between(displs[0], displs[p]);
            truncate(displs, p);
            return strided_without_expansion(n / p, stride, fold_displs(std::move(displs), child));
        }
        if (!may_have_frequent_step(displs))
            return make_indexed_block(std::move(displs), child, look);
        const int64_t by = majority_step(displs);
        std::size_t runs = 1;
        for (std::size_t i = 1; i < n; ++i) runs += step_to(displs, i) != by;
        if (runs * min_run_for_indexed > n)
            return make_indexed_block(std::move(displs), child, look);
        applied("runs-of-a-list");
        std::vector<uint64_t> first;
        std::vector<int64_t> starts;
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0 && step_to(displs, i) == by) continue;
            starts.push_back(displs[i]);
            first.push_back(i);
        }
        first.push_back(n);
        return make_indexed(std::move(starts), std::move(first), by, child);
    }
}

Placed Builder::fold_indexed(std::vector<int64_t> displs, std::vector<uint64_t> counts,
                             int64_t stride, Placed child) {
    std::size_t n = 0;
    uint64_t total = 0, divisor = 0;
    for (std::size_t i = 0; i < displs.size(); ++i) {
        if (counts[i] == 0) continue;
        total += counts[i];
        if (n > 0 && displace(displs[n - 1], counts[n - 1], stride) == displs[i]) {
            counts[n - 1] += counts[i];
        } else {
            displs[n] = displs[i];
            counts[n++] = counts[i];
        }
    }
    displs.resize(n);
    counts.resize(n);
    for (uint64_t c : counts) divisor = std::gcd(divisor, c);
    if (n == 0) return {};
    if (divisor > 1) {
        applied("common-run-length");
        child = strided(divisor, stride, child);
        stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * divisor);
        for (uint64_t &c : counts) c /= divisor;
        total /= divisor;
    }
    if (total == n) return indexed_block(std::move(displs), child); // every run is one child
    // Becomes a list of single children if that is short or not much longer; fold_displs() may find
    // runs in it again.
    if ((total <= small || total < n * min_run_for_indexed) && pay(total - n)) {
        applied("list-of-runs");
        std::vector<int64_t> each;
        each.reserve(total);
        for (std::size_t i = 0; i < n; ++i)
            for (uint64_t j = 0; j < counts[i]; ++j) each.push_back(displace(displs[i], j, stride));
        return indexed_block(std::move(each), child);
    }
    const std::size_t p = shortest_period(
        n, [&](auto i, auto j) { return step_to(displs, i) == step_to(displs, j); },
        [&](auto i, auto j) { return counts[i] == counts[j]; });
    if (p < n) {
        applied("period");
        const auto period_stride = step_between(displs[0], displs[p]);
        truncate(displs, p);
        truncate(counts, p);
        return strided(n / p, period_stride,
                       fold_indexed(std::move(displs), std::move(counts), stride, child));
    }
    std::vector<uint64_t> first = take_list<uint64_t>(n + 1);
    first.push_back(0);
    for (const uint64_t c : counts) first.push_back(first.back() + c);
    return make_indexed(std::move(displs), std::move(first), stride, child);
}

} // namespace ucd
