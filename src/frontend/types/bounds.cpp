#include "types/bounds.h"

#include <algorithm>

namespace ucd {

void Bounds::add_many(int128 lowest, int128 highest, int64_t count, int64_t blocklength,
                      const Type &child) {
    // If the extent is negative, the last child of a block lies before the first.
    const int128 reach = static_cast<int128>(blocklength - 1) * child.extent();
    add_range(lowest + std::min<int128>(reach, 0), highest + std::max<int128>(reach, 0),
              static_cast<uint128>(count) * static_cast<uint128>(blocklength), child);
}

void Bounds::add_nest(int128 displacement, std::span<const StrideLevel> levels, const Type &child) {
    int128 lowest = displacement, highest = displacement;
    uint64_t children = 1;
    bool none = false, too_many = false, too_far = false;
    for (const StrideLevel &level : levels) {
        none = none || level.count == 0;
        too_many |= __builtin_mul_overflow(children, static_cast<uint64_t>(level.count), &children);
        const int128 last = static_cast<int128>(level.count - 1) * level.stride;
        too_far |= last < 0 ? __builtin_add_overflow(lowest, last, &lowest)
                            : __builtin_add_overflow(highest, last, &highest);
    }
    // Beyond these limits, neither a size nor bounds fit, and sums do not wrap.
    if (too_far) highest = int128{1} << 125;
    add_range(lowest, highest, none ? 0 : too_many ? uint128{1} << 64 : children, child);
}

void Bounds::add_range(int128 lowest, int128 highest, uint128 children, const Type &child) {
    type_.nested_structs = std::max(type_.nested_structs, child.nested_structs);
    type_.unflattened = type_.unflattened || child.unflattened;
    type_.by_reference = type_.by_reference || child.by_reference;
    if (children == 0) return;
    if (child.explicit_bounds) {
        // lb and ub are separate markers: with a negative extent, ub lies below lb.
        marked_.include(lowest + child.lb, highest + child.ub);
    }
    if (child.size == 0) return;
    data_.include(lowest + child.true_lb, highest + child.true_ub);
    const auto times = static_cast<uint64_t>(children);
    uint64_t bytes = 0;
    too_large_ = too_large_ || children > UINT64_MAX ||
                 __builtin_mul_overflow(times, child.size, &bytes) ||
                 __builtin_add_overflow(type_.size, bytes, &type_.size);
    type_.elements += times * child.elements; // at most as many as bytes
    type_.alignment = std::max(type_.alignment, child.alignment);
    type_.ops &= child.ops;
    type_.element =
        !any_elements_ || type_.element == child.element ? child.element : Element::none;
    type_.predefined =
        !any_elements_ || type_.predefined == child.predefined ? child.predefined : 0;
    any_elements_ = true;
}

void Bounds::set(int128 lb, int128 ub) {
    marked_ = {lb, ub, true};
}

Status Bounds::settle() {
    const auto fits = [](int128 v) { return v >= -INT64_MAX && v <= INT64_MAX; };
    const auto too_far = [] {
        return fail(UCD_ERR__OVERFLOW, "the bounds of the type do not fit %jd bytes",
                    static_cast<intmax_t>(INT64_MAX));
    };
    if (too_large_ || type_.size > INT64_MAX)
        return fail(UCD_ERR__OVERFLOW, "the size of the type exceeds %jd bytes",
                    static_cast<intmax_t>(INT64_MAX));
    // Checked before any two of them are subtracted, since the difference of two values of 128 bits
    // may overflow.
    for (const int128 v : {data_.low, data_.high, marked_.low, marked_.high})
        if (!fits(v)) return too_far();
    int128 lb = data_.low, ub = data_.high;
    if (marked_.any) {
        lb = marked_.low;
        ub = marked_.high;
    } else {
        // The epsilon of MPI-4.1 5.1.6. Every alignment is a power of two.
        const int128 mask = type_.alignment - 1;
        ub = lb + ((ub - lb + mask) & ~mask);
    }
    for (const int128 v : {ub, ub - lb, data_.high - data_.low})
        if (!fits(v)) return too_far();
    type_.lb = static_cast<int64_t>(lb);
    type_.ub = static_cast<int64_t>(ub);
    type_.true_lb = static_cast<int64_t>(data_.low);
    type_.true_ub = static_cast<int64_t>(data_.high);
    type_.explicit_bounds = marked_.any;
    type_.nested_structs += type_.form == Form::structure;
    type_.by_reference = type_.by_reference || type_.form == Form::by_reference;
    return success;
}

} // namespace ucd
