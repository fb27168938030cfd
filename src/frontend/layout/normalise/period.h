// The shortest period of a list of entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ucd {

// The shortest p <= n / 2 that divides n, such that entries p apart are equal and so are the steps
// that lead to them; n if there is none. `same_step(i, j)`: the steps from i - 1 to i and from j -
// 1 to j are equal, i, j >= 1; `same_entry(i, j)`: the entries are equal, but for where they lie.
// Linear in n (Knuth, Morris, Pratt: the borders of a sequence give its periods).
template <class SameStep, class SameEntry>
std::size_t shortest_period(std::size_t n, SameStep same_step, SameEntry same_entry) {
    if (n < 4) return n;
    const std::size_t m = n - 1; // the sequence of (step, entry), from entry 1
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

} // namespace ucd
