// Walks the dimensions of members, and converts or copies the rows of the last one. UCD_MODELS_SET:
// the namespace.
#include "host.h"

#include "pairs.h"

#include <algorithm>
#include <cstring>

namespace ucd_models::UCD_MODELS_SET {

namespace {

constexpr std::size_t block = 64; // elements that are brought together where they are apart

template <class Element>
void bring(const char *from, int64_t stride, Element *to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + i, from + static_cast<int64_t>(i) * stride, sizeof(Element));
}
template <class Element>
void spread(const Element *from, char *to, int64_t stride, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(to + static_cast<int64_t>(i) * stride, from + i, sizeof(Element));
}

// Converts elements, all by one scale, or each by its own.
template <class F, class T>
struct Conversion {
    using From = typename F::Bits;
    using To = typename T::Bits;
    static constexpr bool has_scale = divides<F, T> || multiplies<F, T>;
    uint32_t limit;

    template <bool ordinary>
    void by(const Scale &scale, const From *from, To *to, std::size_t count) const {
        const Scale own = scale;
        const uint32_t most = limit;
        uint32_t wide[block];
        // Loops over elements of one width each vectorise best.
        for (std::size_t first = 0; first + block <= count; first += block) {
            for (std::size_t i = 0; i < block; ++i) wide[i] = from[first + i];
            for (std::size_t i = 0; i < block; ++i)
                wide[i] = converted<F, T, ordinary>(wide[i], own, most);
            for (std::size_t i = 0; i < block; ++i) to[first + i] = static_cast<To>(wide[i]);
        }
        for (std::size_t i = count / block * block; i < count; ++i)
            to[i] = static_cast<To>(converted<F, T, ordinary>(from[i], own, most));
    }
    void operator()(float value, const From *from, To *to, std::size_t count) const {
        const Scale scale = scale_of(value);
        if (scale.is_ordinary)
            by<true>(scale, from, to, count);
        else
            by<false>(scale, from, to, count);
    }
    void each(const float *values, const From *from, To *to, std::size_t count) const {
        const uint32_t most = limit;
#pragma GCC ivdep
        for (std::size_t i = 0; i < count; ++i)
            to[i] =
                static_cast<To>(converted<F, T, false>(from[i], Scale{values[i], 0, false}, most));
    }
};

template <class Bits>
struct Copy {
    using From = Bits;
    using To = Bits;
    static constexpr bool has_scale = false;
    void operator()(float, const From *from, To *to, std::size_t count) const {
        std::memcpy(to, from, count * sizeof(Bits));
    }
    void each(const float *, const From *, To *, std::size_t) const {}
};

template <class Work>
class Walk {
public:
    Walk(const Member &of, Work work) : of_(of), work_(work) {}
    void run() const { walk(0, {{0, 0}, 0}); }

private:
    using From = typename Work::From;
    using To = typename Work::To;

    void walk(uint32_t level, Offsets at) const {
        const Digit &digit = of_.digit[level];
        if (level + 1 == of_.digits && static_cast<int32_t>(level) != of_.token) {
            row(digit, at);
            return;
        }
        for (uint32_t i = 0; i < digit.size.by; ++i) {
            Offsets inner = at;
            if (static_cast<int32_t>(level) != of_.token) {
                for (int side = 0; side < 2; ++side) inner.side[side] += i * digit.stride[side];
                inner.scale += (i + digit.phase) / digit.block.by * digit.scale;
            } else if (!add_token(of_, i, inner)) {
                continue;
            }
            if (level + 1 < of_.digits)
                walk(level + 1, inner);
            else
                part(source(inner), 0, target(inner), 0, scale(inner.scale), 1);
        }
    }

    // The elements of the last dimension, by ranges that have one scale.
    void row(const Digit &digit, const Offsets &at) const {
        const char *from = source(at);
        char *to = target(at);
        const std::size_t count = digit.size.by;
        const bool is_one = digit.scale == 0 || of_.scale == 0 || !Work::has_scale;
        if (!is_one && digit.block.by < 8) {
            apart(digit, at, from, to, count);
            return;
        }
        std::size_t first = 0, end = is_one ? count : digit.block.by - digit.phase;
        for (int64_t number = 0; first < count; ++number, first = end, end += digit.block.by) {
            const auto i = static_cast<int64_t>(first);
            part(from + i * digit.stride[0], digit.stride[0], to + i * digit.stride[1],
                 digit.stride[1], scale(at.scale + number * digit.scale),
                 std::min(count, end) - first);
        }
    }

    // Elements with one scale.
    void part(const char *from, int64_t step, char *to, int64_t to_step, float value,
              std::size_t count) const {
        if (step == sizeof(From) && to_step == sizeof(To) && aligned<From>(from) &&
            aligned<To>(to)) {
            work_(value, reinterpret_cast<const From *>(from), reinterpret_cast<To *>(to), count);
            return;
        }
        From here[block];
        To there[block];
        for (std::size_t i = 0; i < count; i += block) {
            const std::size_t some = std::min(block, count - i);
            bring(from + static_cast<int64_t>(i) * step, step, here, some);
            work_(value, here, there, some);
            spread(there, to + static_cast<int64_t>(i) * to_step, to_step, some);
        }
    }

    // Elements whose scales differ.
    void apart(const Digit &digit, const Offsets &at, const char *from, char *to,
               std::size_t count) const {
        From here[block];
        To there[block];
        float values[block];
        for (std::size_t first = 0; first < count; first += block) {
            const std::size_t some = std::min(block, count - first);
            const auto i = static_cast<int64_t>(first);
            for (std::size_t k = 0; k < some; ++k)
                values[k] = scale(at.scale +
                                  static_cast<int64_t>((first + k + digit.phase) / digit.block.by) *
                                      digit.scale);
            bring(from + i * digit.stride[0], digit.stride[0], here, some);
            work_.each(values, here, there, some);
            spread(there, to + i * digit.stride[1], digit.stride[1], some);
        }
    }

    template <class Element>
    static bool aligned(const void *at) {
        return reinterpret_cast<uintptr_t>(at) % sizeof(Element) == 0;
    }
    const char *source(const Offsets &at) const {
        return reinterpret_cast<const char *>(of_.source) + at.side[0];
    }
    char *target(const Offsets &at) const {
        return reinterpret_cast<char *>(of_.target) + at.side[1];
    }
    float scale(int64_t offset) const {
        if (of_.scale == 0) return of_.constant;
        float value;
        std::memcpy(&value, reinterpret_cast<const char *>(of_.scale) + offset, sizeof value);
        return value;
    }

    const Member &of_;
    Work work_;
};

struct Run {
    const Member *members;
    std::size_t count;
    bool saturate;

    template <class Work>
    void with(Work work) const {
        for (std::size_t i = 0; i < count; ++i) Walk<Work>(members[i], work).run();
    }
    template <class From, class To>
    void convert() const {
        with(Conversion<From, To>{limit_of<To>(saturate)});
    }
    template <class Bits>
    void copy() const {
        with(Copy<Bits>());
    }
};

} // namespace

void run(const Member *members, std::size_t count, Kind kind) {
    (void)for_kind(kind.from, kind.to, Run{members, count, kind.saturate});
}

} // namespace ucd_models::UCD_MODELS_SET
