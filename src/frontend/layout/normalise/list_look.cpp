#include "layout/normalise/list_look.h"

#include <algorithm>
#include <numeric>

namespace ucd {
std::size_t common_run(std::span<const int64_t> displs, int64_t by, std::size_t apart) {
    std::size_t divisor = 0, length = 1;
    for (std::size_t i = apart; i < displs.size(); i += apart) {
        if (step_between(displs[i - apart], displs[i]) == by) {
            ++length;
            continue;
        }
        divisor = std::gcd(divisor, length);
        if (divisor == 1) return 1; // performance only: no later run changes it
        length = 1;
    }
    return std::gcd(divisor, length);
}

ListLook look_at(std::span<const int64_t> displs, int64_t step) {
    ListLook look{0, displs[0], displs[0]};
    for (std::size_t i = 1; i < displs.size(); ++i) {
        look.steps += step_to(displs, i) == step;
        look.least = std::min(look.least, displs[i]);
        look.most = std::max(look.most, displs[i]);
    }
    return look;
}

std::size_t count_steps(std::span<const int64_t> displs, int64_t step) {
    std::size_t steps = 0;
    for (std::size_t i = 1; i < displs.size(); ++i) steps += step_to(displs, i) == step;
    return steps;
}

bool may_have_frequent_step(std::span<const int64_t> displs) {
    // Of two neighbouring steps that differ, at least one is not the frequent one, and each step is
    // in at most two such pairs.
    constexpr std::size_t part = 256;
    const std::size_t n = displs.size();
    std::size_t changes = 0;
    for (std::size_t i = 2; i < n;) {
        const std::size_t end = std::min(n, i + part);
        for (; i < end; ++i) changes += step_to(displs, i) != step_to(displs, i - 1);
        if (changes > n / 2) return false;
    }
    return true;
}

LengthLook look_at_lengths(std::span<const uint64_t> first) {
    const std::size_t n = first.size() - 1;
    LengthLook look;
    const uint64_t length = first[1] - first[0];
    std::size_t i = 0;
    while (i < n && first[i + 1] - first[i] == length) ++i;
    if (i == n) return look;
    look.uniform = false;
    for (look.bits = length; i < n && (look.bits & 1) == 0; ++i)
        look.bits |= first[i + 1] - first[i];
    return look;
}

} // namespace ucd
