// Finds the shortest period of a list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucd {

// Calls use(d) for the divisors of n >= 4 up to n / 2, in ascending order, until it returns true.
// Returns false if n has too many divisors; no number below 10^11 has.
template <class Use>
bool for_each_divisor(std::size_t n, Use use) {
    std::array<uint32_t, 2048> small; // divisors up to the square root of n
    std::size_t found = 0;
    const auto divides = [n](std::size_t d) {
        // 32-bit divisions are several times as fast.
        if (n <= UINT32_MAX) return static_cast<uint32_t>(n) % static_cast<uint32_t>(d) == 0;
        return n % d == 0;
    };
    for (std::size_t d = 1; d <= n / d; ++d) {
        if (!divides(d)) continue;
        if (use(d)) return true;
        if (found == small.size()) return false;
        small[found++] = static_cast<uint32_t>(d);
    }
    while (found-- > 1) {
        const std::size_t d = n / small[found];
        if (d != small[found] && use(d)) return true;
    }
    return true;
}

// The Knuth-Morris-Pratt failure function: the borders of a sequence give its periods. Linear in n.
template <class SameStep, class SameEntry>
std::size_t shortest_period_by_borders(std::size_t n, SameStep same_step, SameEntry same_entry) {
    const std::size_t m = n - 1; // length of the sequence of (step, entry) from entry 1 on
    const auto equal = [&](std::size_t i, std::size_t j) {
        return same_step(i + 1, j + 1) && same_entry(i + 1, j + 1);
    };
    std::vector<std::size_t> border(m, 0);
    for (std::size_t i = 1, k = 0; i < m; ++i) {
        while (k > 0 && !equal(i, k)) k = border[k - 1];
        if (equal(i, k)) ++k;
        border[i] = k;
    }
    for (std::size_t k = border[m - 1]; k > 0; k = border[k - 1]) {
        const std::size_t p = m - k;
        if (p > n / 2) break;
        if (n % p == 0 && same_entry(0, p)) return p;
    }
    return n;
}

// The shortest p <= n / 2 that divides n, such that entries p apart are equal and so are the steps
// that lead to them; n if there is none. `same_step(i, j)`, i, j >= 1, compares the step from i - 1
// to i with that from j - 1 to j; `same_entry(i, j)` compares the entries without their
// displacements. Linear in n.
template <class SameStep, class SameEntry>
std::size_t shortest_period(std::size_t n, SameStep same_step, SameEntry same_entry) {
    if (n < 4) return n;
    // There are few divisors, and most lists refute each at once. If several divisors are refuted
    // late, the linear algorithm is used instead.
    std::size_t period = n, left = 2 * n;
    const bool all = for_each_divisor(n, [&](std::size_t p) {
        std::size_t i = p + 1;
        if (same_entry(0, p))
            while (i < n && left > 0 && same_step(i, i - p) && same_entry(i, i - p)) ++i, --left;
        if (i == n) period = p;
        return i == n || left == 0;
    });
    if (period < n || (all && left > 0)) return period;
    return shortest_period_by_borders(n, same_step, same_entry);
}

} // namespace ucd
