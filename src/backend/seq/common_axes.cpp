#include "common_axes.h"

#include "plan.h"

#include <algorithm>

namespace ucd::seq {
namespace {

// Takes iterations from the innermost loops of a layout, a part of a loop at a time.
class Unwinding {
public:
    Unwinding(const Axes &axes, uint64_t unit)
        : axes_(axes),
          next_(axes.count), current_{
                                 axes.block / unit, {static_cast<int64_t>(unit), nullptr}, {}} {
        advance();
    }

    bool outermost() const { return next_ == 0; }
    bool listed() const { return current_.from.displs != nullptr; }
    uint64_t left() const { return current_.count; }
    const Steps &steps() const { return current_.from; }

    // Goes on behind `count` iterations, which divide what is left.
    void take(uint64_t count) {
        current_.count /= count;
        current_.from.stride = displace(0, count, current_.from.stride);
        advance();
    }

private:
    // Goes on to the next loop that has iterations left, if this one has not.
    void advance() {
        while (current_.count == 1 && next_ > 0) current_ = axes_.axis[--next_];
    }

    const Axes &axes_;
    unsigned next_; // the loops before this one are left
    Axis current_;
};

} // namespace

bool find_axes(const HostStream &stream, Axes &axes) {
    const Layout &layout = *stream.layout;
    return !layout.empty() &&
           find_axes(layout, repeat(layout.top(), layout.root, stream.count, stream.extent), axes);
}

uintptr_t origin_of(const HostStream &stream) {
    return reinterpret_cast<uintptr_t>(at(stream.typed, stream.layout->start));
}

bool find_common_axes(const Axes &from, uint64_t from_unit, const Axes &to, uint64_t to_unit,
                      uint64_t end, Axes &common) {
    if (from.block % from_unit != 0 || to.block % to_unit != 0) return false;
    Axis inner_first[max_axes];
    uint64_t units = 1;
    Unwinding a(from, from_unit), b(to, to_unit);
    while (units < end) {
        if (common.count == max_axes) return false;
        uint64_t step = std::min(a.left(), b.left());
        const bool last = a.outermost() && b.outermost();
        if (last)
            step = std::max(a.left(), b.left()); // what is behind the shorter stream is not reached
        else if (a.left() % step != 0 || b.left() % step != 0)
            return false;
        if ((a.listed() && a.left() != step) || (b.listed() && b.left() != step)) return false;
        inner_first[common.count++] = {step, a.steps(), b.steps()};
        units *= step;
        if (last) break;
        a.take(step);
        b.take(step);
    }
    if (units < end) return false;
    std::reverse_copy(inner_first, inner_first + common.count, common.axis);
    return true;
}

} // namespace ucd::seq
