// Lists of displacements: regular ones become strides. What a list becomes depends on the list
// alone.

#include "layout/normalise/builder.h"
#include "layout/normalise/period.h"
#include "layout_walk.h"

#include <algorithm>
#include <numeric>

namespace ucd {
namespace {

int64_t step(const std::vector<int64_t> &displs, std::size_t i) {
    return static_cast<int64_t>(static_cast<uint64_t>(displs[i]) -
                                static_cast<uint64_t>(displs[i - 1]));
}

// The greatest common divisor of the lengths of the maximal runs of entries that are `by` apart.
std::size_t common_run(const std::vector<int64_t> &displs, int64_t by) {
    std::size_t divisor = 0, length = 1;
    for (std::size_t i = 1; i < displs.size(); ++i) {
        if (step(displs, i) == by) {
            ++length;
            continue;
        }
        divisor = std::gcd(divisor, length);
        if (divisor == 1) return 1;
        length = 1;
    }
    return std::gcd(divisor, length);
}

// The step that more than half of the steps are, if there is one; any step otherwise.
int64_t majority_step(const std::vector<int64_t> &displs) {
    int64_t candidate = 0;
    std::size_t votes = 0;
    for (std::size_t i = 1; i < displs.size(); ++i) {
        const int64_t s = step(displs, i);
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

} // namespace

Placed Builder::fold_blocks(BlockList list) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list.bytes[i] == 0) continue;
        const bool merge =
            n > 0 &&
            displace(list.displs[n - 1], static_cast<int64_t>(list.bytes[n - 1])) == list.displs[i];
        if (merge) {
            list.bytes[n - 1] += list.bytes[i];
        } else {
            list.displs[n] = list.displs[i];
            list.bytes[n++] = list.bytes[i];
        }
    }
    if (n < list.size()) applied("merge-touching");
    list.displs.resize(n);
    list.bytes.resize(n);
    if (n == 0) return {};
    if (n == 1) return block(list.displs[0], list.bytes[0], list.element);

    const auto one_length = std::all_of(list.bytes.begin(), list.bytes.end(),
                                        [&](uint64_t b) { return b == list.bytes[0]; });
    if (one_length) {
        Placed one = block(0, list.bytes[0], list.element);
        return fold_displs(std::move(list.displs), one);
    }
    const std::size_t p = shortest_period(
        n, [&](auto i, auto j) { return step(list.displs, i) == step(list.displs, j); },
        [&](auto i, auto j) { return list.bytes[i] == list.bytes[j]; });
    if (p < n) {
        applied("period");
        const auto stride = static_cast<int64_t>(static_cast<uint64_t>(list.displs[p]) -
                                                 static_cast<uint64_t>(list.displs[0]));
        truncate(list.displs, p);
        truncate(list.bytes, p);
        return make_strided(n / p, stride, fold_blocks(std::move(list)));
    }
    // Lengths are counted in the widest unit that divides them all, up to 16 bytes.
    uint64_t bits = 16;
    for (uint64_t b : list.bytes) bits |= b;
    const uint64_t unit = bits & -bits;
    for (uint64_t &b : list.bytes) b /= unit;
    const Placed one = block(0, unit, list.element);
    return make_indexed(std::move(list.displs), list.bytes, static_cast<int64_t>(unit), one);
}

// Equal children at given displacements, relative to the child's own.
Placed Builder::fold_displs(std::vector<int64_t> displs, Placed child) {
    for (;;) {
        const std::size_t n = displs.size();
        if (n == 1) return {displace(child.at, displs[0]), child.id};
        const int64_t first_step = step(displs, 1);
        const std::size_t run = common_run(displs, first_step);
        if (run > 1) {
            applied("progression");
            child = strided_without_expansion(run, first_step, child);
            thin(displs, run);
            continue;
        }
        const std::size_t p = shortest_period(
            n, [&](auto i, auto j) { return step(displs, i) == step(displs, j); },
            [](auto, auto) { return true; });
        if (p < n) {
            applied("period");
            const auto stride = static_cast<int64_t>(static_cast<uint64_t>(displs[p]) -
                                                     static_cast<uint64_t>(displs[0]));
            truncate(displs, p);
            return strided_without_expansion(n / p, stride, fold_displs(std::move(displs), child));
        }
        const int64_t by = majority_step(displs);
        std::size_t runs = 1;
        for (std::size_t i = 1; i < n; ++i) runs += step(displs, i) != by;
        if (runs * min_run_for_indexed > n) return make_indexed_block(std::move(displs), child);
        applied("runs-of-a-list");
        std::vector<uint64_t> counts;
        std::vector<int64_t> starts;
        for (std::size_t i = 0; i < n; ++i) {
            if (i == 0 || step(displs, i) != by) {
                starts.push_back(displs[i]);
                counts.push_back(0);
            }
            ++counts.back();
        }
        return make_indexed(std::move(starts), counts, by, child);
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
    // As a list of single children, where that is short or not much longer; fold_displs() may find
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
        n, [&](auto i, auto j) { return step(displs, i) == step(displs, j); },
        [&](auto i, auto j) { return counts[i] == counts[j]; });
    if (p < n) {
        applied("period");
        const auto period_stride = static_cast<int64_t>(static_cast<uint64_t>(displs[p]) -
                                                        static_cast<uint64_t>(displs[0]));
        truncate(displs, p);
        truncate(counts, p);
        return strided(n / p, period_stride,
                       fold_indexed(std::move(displs), std::move(counts), stride, child));
    }
    return make_indexed(std::move(displs), counts, stride, child);
}

} // namespace ucd
