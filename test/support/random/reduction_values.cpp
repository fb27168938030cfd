#include "support/random/reduction_values.hpp"

#include "support/oracle/representation.hpp"
#include "support/oracle/small_float.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ucdtest {
namespace {

template <class T>
constexpr bool is_small = std::is_same_v<T, Half> || std::is_same_v<T, BFloat> ||
                          std::is_same_v<T, E4M3> || std::is_same_v<T, E5M2>;

template <class T, class Bits>
T random_finite(Rng &rng) {
    for (;;) {
        const T value = std::bit_cast<T>(static_cast<Bits>(rng.bits()));
        if (std::isfinite(value) && !(value == 0 && std::signbit(value))) return value;
    }
}

template <class T>
T random_floating(Rng &rng) {
    if constexpr (is_small<T>) {
        for (;;) {
            const T small{static_cast<decltype(T::bits)>(rng.bits())};
            const float value = to_float(small);
            if (std::isfinite(value) && !(value == 0 && std::signbit(value))) return small;
        }
    } else {
        if (rng.chance(30)) return static_cast<T>(rng.between(-20, 20));
        if constexpr (std::is_same_v<T, float>) return random_finite<float, std::uint32_t>(rng);
        if constexpr (std::is_same_v<T, double>) return random_finite<double, std::uint64_t>(rng);
        // long double has no integer of its size; 64 random bits fill any fraction that it may
        // have.
        const auto fraction = static_cast<long double>(static_cast<std::int64_t>(rng.bits()));
        return static_cast<T>(std::ldexp(fraction, static_cast<int>(rng.between(-120, 120))));
    }
}

template <class T>
T random_integer(Rng &rng) {
    if (rng.chance(30)) return T{0};
    if (rng.chance(15)) return std::numeric_limits<T>::max();
    if (rng.chance(15)) return std::numeric_limits<T>::min();
    if (rng.chance(20)) return static_cast<T>(rng.between(-3, 3));
    return static_cast<T>(rng.bits());
}

template <class T>
T random_scalar(Rng &rng) {
    if constexpr (std::is_same_v<T, bool>) {
        return rng.chance(50);
    } else if constexpr (std::is_integral_v<T>) {
        return random_integer<T>(rng);
    } else {
        return random_floating<T>(rng);
    }
}

} // namespace

void random_value(Rng &rng, const Predefined &type, void *out) {
    with_representation(type, [&]<class Class, class T>(Class, T *) {
        if constexpr (is_complex<T>) {
            // Few enough bits that the products are exact, so that a fused multiply-add, which the
            // plain formula permits a compiler to use, gives the same.
            using Part = decltype(T::re);
            const auto part = [&] { return static_cast<Part>(rng.between(-400, 400)) / 4; };
            const T value = {part(), part()};
            std::memcpy(out, &value, sizeof value);
        } else if constexpr (is_pair<T>) {
            T value;
            const bool tie = rng.chance(60);
            using Value = decltype(T::value);
            using Index = decltype(T::index);
            value.value = tie ? static_cast<Value>(rng.between(-1, 1)) : random_scalar<Value>(rng);
            value.index = static_cast<Index>(rng.between(-1000, 1000));
            std::memcpy(out, &value.value, sizeof value.value);
            std::memcpy(static_cast<std::byte *>(out) + sizeof value.value, &value.index,
                        sizeof value.index);
        } else {
            const T value = random_scalar<T>(rng);
            std::memcpy(out, &value, sizeof value);
        }
    });
    // The spare bytes of a local variable are not even initialised.
    for (std::size_t i = 0; i < type.spare_count; ++i) {
        auto *const spare = static_cast<std::byte *>(out) + type.spare[i].displ;
        for (std::size_t j = 0; j < type.spare[i].bytes; ++j) spare[j] = std::byte(rng.bits());
    }
}

std::vector<std::byte> random_values(Rng &rng, const std::vector<StreamElement> &elements) {
    if (elements.empty()) return {};
    const StreamElement &last = elements.back();
    std::vector<std::byte> stream(last.offset + last.type->size);
    for (const StreamElement &element : elements) {
        random_value(rng, *element.type, stream.data() + element.offset);
    }
    return stream;
}

void forgive_spare_bytes(const Predefined &type, void *expected, const void *actual) {
    for (std::size_t i = 0; i < type.spare_count; ++i) {
        const Piece &run = type.spare[i];
        std::memcpy(static_cast<std::byte *>(expected) + run.displ,
                    static_cast<const std::byte *>(actual) + run.displ, run.bytes);
    }
}

} // namespace ucdtest
