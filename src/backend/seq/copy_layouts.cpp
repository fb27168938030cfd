// Copies between two layouts in one pass, where both are nested loops over the same stream.
#include "permute.h"
#include "plan.h"

#include "host_lists.h"

#include <algorithm>

namespace ucd {
namespace seq {
namespace {

// Takes iterations from the innermost loops of a layout, a part of a loop at a time.
class Unwinding {
public:
    Unwinding(const Axes &axes, uint64_t unit)
        : axes_(axes),
          next_(axes.count), current_{
                                 axes.block / unit, {static_cast<int64_t>(unit), nullptr}, {}} {
        if (current_.count == 1) advance();
    }

    bool done() const { return current_.count == 1; }
    bool outermost() const { return next_ == 0; }
    bool listed() const { return current_.from.displs != nullptr; }
    uint64_t left() const { return current_.count; }
    const Steps &steps() const { return current_.from; }

    // Goes on behind `count` iterations, which divide what is left.
    void take(uint64_t count) {
        current_.count /= count;
        current_.from.stride = displace(0, count, current_.from.stride);
        if (current_.count == 1) advance();
    }

private:
    void advance() {
        while (current_.count == 1 && next_ > 0) current_ = axes_.axis[--next_];
    }

    const Axes &axes_;
    unsigned next_; // the loops before this one are left
    Axis current_;
};

// The loops that both layouts have in common when each loop is divided where one of the other ends.
// Returns false if that is not possible. `end`: how many bytes of the stream are needed.
bool find_common_axes(const Axes &from, const Axes &to, uint64_t end, Axes &common) {
    const uint64_t unit = std::min(from.block, to.block);
    if (from.block % unit != 0 || to.block % unit != 0) return false;
    Axis inner_first[max_axes];
    uint64_t bytes = unit;
    Unwinding a(from, unit), b(to, unit);
    while (bytes < end) {
        if (a.done() || b.done() || common.count == max_axes) return false;
        uint64_t step = std::min(a.left(), b.left());
        const bool last = a.outermost() && b.outermost();
        if (last)
            step = std::max(a.left(), b.left()); // what is behind the shorter stream is not reached
        else if (a.left() % step != 0 || b.left() % step != 0)
            return false;
        if ((a.listed() && a.left() != step) || (b.listed() && b.left() != step)) return false;
        inner_first[common.count++] = {step, a.steps(), b.steps()};
        bytes *= step;
        if (last) break;
        a.take(step);
        b.take(step);
    }
    if (bytes < end) return false;
    common.block = unit;
    std::reverse_copy(inner_first, inner_first + common.count, common.axis);
    return true;
}

} // namespace
} // namespace seq

bool copy_in_one_pass(const HostStream &from, const HostStream &to, uint64_t begin, uint64_t end) {
    using namespace seq;
    const auto find = [](const HostStream &side, Axes &axes) {
        const Layout &layout = *side.layout;
        return !layout.empty() &&
               find_axes(layout, repeat(layout.top(), layout.root, side.count, side.extent), axes);
    };
    Axes from_axes, to_axes, common;
    if (!find(from, from_axes) || !find(to, to_axes) ||
        !find_common_axes(from_axes, to_axes, end, common) || !pays_in_one_pass(common))
        return false;
    const auto origin = [](const HostStream &side) {
        return reinterpret_cast<uintptr_t>(at(side.typed, side.layout->start));
    };
    permute(common, begin, end, origin(from), origin(to));
    return true;
}

} // namespace ucd
