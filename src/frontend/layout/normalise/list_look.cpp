#include "layout/normalise/list_look.h"

#include <algorithm>

namespace ucd {
namespace {

uint64_t step_to(std::span<const int64_t> displs, std::size_t i) {
    return static_cast<uint64_t>(displs[i]) - static_cast<uint64_t>(displs[i - 1]);
}

} // namespace

ListLook look_at(std::span<const int64_t> displs, int64_t step) {
    ListLook look{0, displs[0], displs[0]};
    for (std::size_t i = 1; i < displs.size(); ++i) {
        look.steps += step_to(displs, i) == static_cast<uint64_t>(step);
        look.least = std::min(look.least, displs[i]);
        look.most = std::max(look.most, displs[i]);
    }
    return look;
}

std::size_t count_steps(std::span<const int64_t> displs, int64_t step) {
    std::size_t steps = 0;
    for (std::size_t i = 1; i < displs.size(); ++i)
        steps += step_to(displs, i) == static_cast<uint64_t>(step);
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
