#include "bounds.h"

#include "failure.h"

#include <algorithm>

namespace ucd_yaksa {

void Bounds::add_block(int128 at, std::intptr_t blocklength, const Type &old) {
    if (blocklength == 0) return;
    const int128 to_last = int128{old.extent} * (blocklength - 1);
    const int128 low = at + old.lb + std::min<int128>(to_last, 0);
    const int128 high = at + old.lb + old.extent + std::max<int128>(to_last, 0);
    low_ = any_ ? std::min(low_, low) : low;
    high_ = any_ ? std::max(high_, high) : high;
    any_ = true;
}

void Bounds::align(std::intptr_t alignment) {
    const int128 beyond = (high_ - low_) % alignment;
    if (beyond != 0) high_ += alignment - beyond;
}

int Bounds::check() const {
    const auto fits = [](int128 value) { return value >= INTPTR_MIN && value <= INTPTR_MAX; };
    if (fits(low_) && fits(high_) && fits(high_ - low_)) return YAKSA_SUCCESS;
    return fail(YAKSA_ERR__INTERNAL, "the bounds of the type do not fit intptr_t");
}

} // namespace ucd_yaksa
