#include "types/bounds.h"

#include <algorithm>

namespace ucd {

void Bounds::Interval::include(int128 from, int128 to) {
    low = any ? std::min(low, from) : from;
    high = any ? std::max(high, to) : to;
    any = true;
}

void Bounds::add(int128 displacement, int64_t blocklength, const Type &child) {
    add_many(displacement, displacement, 1, blocklength, child);
}

void Bounds::add_many(int128 lowest, int128 highest, int64_t count, int64_t blocklength,
                      const Type &child) {
    // If the extent is negative, the last child of a block lies before the first.
    const int128 reach = static_cast<int128>(blocklength - 1) * child.extent();
    add_range(lowest + std::min<int128>(reach, 0), highest + std::max<int128>(reach, 0),
              static_cast<uint128>(count) * static_cast<uint128>(blocklength), child);
}

void Bounds::add_range(int128 lowest, int128 highest, uint128 children, const Type &child) {
    nested_ = std::max(nested_, child.nested_structs);
    unflattened_ = unflattened_ || child.unflattened;
    by_reference_ = by_reference_ || child.by_reference;
    if (children == 0) return;
    if (child.explicit_bounds) {
        // lb and ub are separate markers: with a negative extent, ub lies below lb.
        marked_.include(lowest + child.lb, highest + child.ub);
    }
    if (child.size == 0) return;
    data_.include(lowest + child.true_lb, highest + child.true_ub);
    too_large_ = too_large_ || children > static_cast<uint128>(INT64_MAX);
    if (!too_large_) size_ += children * child.size;
    too_large_ = too_large_ || size_ > static_cast<uint128>(INT64_MAX);
    if (!too_large_) elements_ += static_cast<uint64_t>(children) * child.elements;
    alignment_ = std::max(alignment_, child.alignment);
    ops_ &= child.ops;
    element_ = !any_elements_ || element_ == child.element ? child.element : Element::none;
    predefined_ = !any_elements_ || predefined_ == child.predefined ? child.predefined : 0;
    any_elements_ = true;
}

void Bounds::set(int128 lb, int128 ub) {
    marked_ = {lb, ub, true};
}

Status Bounds::settle(Type &type) const {
    const auto fits = [](int128 v) { return v >= -INT64_MAX && v <= INT64_MAX; };
    const auto too_far = [] {
        return fail(UCD_ERR__OVERFLOW, "the bounds of the type do not fit %jd bytes",
                    static_cast<intmax_t>(INT64_MAX));
    };
    if (too_large_)
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
        const int128 mask = alignment_ - 1;
        ub = lb + ((ub - lb + mask) & ~mask);
    }
    for (const int128 v : {ub, ub - lb, data_.high - data_.low})
        if (!fits(v)) return too_far();
    type.size = static_cast<uint64_t>(size_);
    type.elements = elements_;
    type.lb = static_cast<int64_t>(lb);
    type.ub = static_cast<int64_t>(ub);
    type.true_lb = static_cast<int64_t>(data_.low);
    type.true_ub = static_cast<int64_t>(data_.high);
    type.explicit_bounds = marked_.any;
    type.alignment = alignment_;
    type.ops = ops_;
    type.element = element_;
    type.predefined = predefined_;
    type.nested_structs = nested_ + (type.form == Form::structure);
    type.unflattened = unflattened_;
    type.by_reference = by_reference_ || type.form == Form::by_reference;
    return success;
}

} // namespace ucd
