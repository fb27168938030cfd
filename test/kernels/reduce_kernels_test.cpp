// Every reduction, element by element, against a scalar formulation; and the conversions of the
// small floating types, against exact searches for the nearest value.
#include "half.h"
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/random/rng.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace reduce_kernels_test {

using namespace ucd;
using namespace ucd::seq;
using ucdtest::Rng;

namespace {

// The value of a finite half, computed as the formats define it.
double value_of(unsigned bits, int fraction_bits, int exponent_bits) {
    const int fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
    const int exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                           : std::ldexp(fraction + (1 << fraction_bits),
                                                        exponent - bias - fraction_bits);
    return bits >> (fraction_bits + exponent_bits) & 1 ? -magnitude : magnitude;
}

struct Float16Format {
    using Half = Float16;
    using Bits = uint16_t;
    static constexpr int fraction_bits = 10, exponent_bits = 5;
    static constexpr bool has_infinity = true;
    static Half from(float value) { return from_float(Float16{}, value); }
};

struct BFloat16Format {
    using Half = BFloat16;
    using Bits = uint16_t;
    static constexpr int fraction_bits = 7, exponent_bits = 8;
    static constexpr bool has_infinity = true;
    static Half from(float value) { return from_float(BFloat16{}, value); }
};

struct E4M3Format {
    using Half = Float8E4M3;
    using Bits = uint8_t;
    static constexpr int fraction_bits = 3, exponent_bits = 4;
    static constexpr bool has_infinity = false;
    static Half from(float value) { return from_float(Float8E4M3{}, value); }
};

struct E5M2Format {
    using Half = Float8E5M2;
    using Bits = uint8_t;
    static constexpr int fraction_bits = 2, exponent_bits = 5;
    static constexpr bool has_infinity = true;
    static Half from(float value) { return from_float(Float8E5M2{}, value); }
};

template <class Format>
constexpr unsigned sign_bit = 1u << (Format::fraction_bits + Format::exponent_bits);
template <class Format>
constexpr unsigned magnitude_mask = sign_bit<Format> - 1;
// The first magnitude that is no finite number: infinity, or the one NaN of a format without.
template <class Format>
constexpr unsigned beyond_bits =
    Format::has_infinity ? magnitude_mask<Format> >> Format::fraction_bits << Format::fraction_bits
                         : magnitude_mask<Format>;
template <class Format>
bool is_infinite(unsigned bits) {
    return Format::has_infinity && (bits & magnitude_mask<Format>) == beyond_bits<Format>;
}
template <class Format>
bool is_nan(unsigned bits) {
    return (bits & magnitude_mask<Format>) >= beyond_bits<Format> && !is_infinite<Format>(bits);
}

// The nearest half, the even one of two equally near; by bisection over all magnitudes, infinity or
// the NaN standing where the next finite number would.
template <class Format>
unsigned nearest(float value) {
    const auto magnitude_of = [](unsigned bits) {
        return value_of(bits, Format::fraction_bits, Format::exponent_bits);
    };
    const double magnitude = std::fabs(static_cast<double>(value));
    unsigned below = 0, above = beyond_bits<Format>;
    if (magnitude >= magnitude_of(above)) {
        below = above;
    } else {
        while (above - below > 1) {
            const unsigned middle = (below + above) / 2;
            (magnitude_of(middle) <= magnitude ? below : above) = middle;
        }
        const double down = magnitude - magnitude_of(below), up = magnitude_of(above) - magnitude;
        if (up < down || (up == down && below % 2 == 1)) below = above;
    }
    return below | (std::signbit(value) ? sign_bit<Format> : 0u);
}

template <class Format>
bool rounds_right(float value) {
    return Format::from(value).bits == nearest<Format>(value);
}

// What one element becomes. `holds` judges instead of computing, because some bits are nobody's
// business: those of a NaN, the sign of a zero, the spare bytes of an x87 number.
struct Model {
    void (*fill)(Rng &rng, unsigned char *element);
    bool (*holds)(Op op, const unsigned char *out, const unsigned char *in,
                  const unsigned char *result);
};

template <class T>
T load(const unsigned char *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template <class T>
void store(unsigned char *bytes, T value) {
    std::memcpy(bytes, &value, sizeof value);
}

template <class T>
bool same(T a, T b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

template <class T>
constexpr Model integer_model = {
    [](Rng &rng, unsigned char *element) {
        const T values[] = {0, 1, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
        store(element, rng.chance(30) ? values[rng.below(4)] : static_cast<T>(rng.bits()));
    },
    [](Op op, const unsigned char *out, const unsigned char *in, const unsigned char *result) {
        const T a = load<T>(out), b = load<T>(in), r = load<T>(result);
        const auto wide_a = static_cast<uint64_t>(a), wide_b = static_cast<uint64_t>(b);
        switch (op) {
        case Op::max: return r == std::max(a, b);
        case Op::min: return r == std::min(a, b);
        case Op::sum: return r == static_cast<T>(wide_a + wide_b);
        case Op::prod: return r == static_cast<T>(wide_a * wide_b);
        case Op::land: return r == (a && b ? 1 : 0);
        case Op::lor: return r == (a || b ? 1 : 0);
        case Op::lxor: return r == (!a == !b ? 0 : 1);
        case Op::band: return r == static_cast<T>(wide_a & wide_b);
        case Op::bor: return r == static_cast<T>(wide_a | wide_b);
        case Op::bxor: return r == static_cast<T>(wide_a ^ wide_b);
        default: return false;
        }
    }};

template <class T>
T random_float(Rng &rng) {
    if (rng.chance(50)) return static_cast<T>(rng.between(-40, 40));
    if (rng.chance(10)) return std::numeric_limits<T>::infinity();
    if (rng.chance(10)) return std::numeric_limits<T>::quiet_NaN();
    const int exponent = std::numeric_limits<T>::max_exponent;
    return std::ldexp(static_cast<T>(static_cast<int64_t>(rng.bits())),
                      static_cast<int>(rng.between(-exponent, exponent - 60)));
}

// Each operation rounds once, whatever contraction the compiler of this test does.
template <class T>
T times(T a, T b) {
    volatile T product = a * b;
    return product;
}

template <class T>
bool float_holds(Op op, T a, T b, T r) {
    switch (op) {
    case Op::max: return same(r, b > a ? b : a);
    case Op::min: return same(r, b < a ? b : a);
    case Op::sum: return same(r, a + b);
    case Op::prod: return same(r, a * b);
    default: return false;
    }
}

template <class T>
constexpr Model float_model = {
    [](Rng &rng, unsigned char *element) { store(element, random_float<T>(rng)); },
    [](Op op, const unsigned char *out, const unsigned char *in, const unsigned char *result) {
        return float_holds(op, load<T>(out), load<T>(in), load<T>(result));
    }};

template <class Format>
constexpr Model half_model = {
    [](Rng &rng, unsigned char *element) {
        store(element, static_cast<typename Format::Bits>(rng.bits()));
    },
    [](Op op, const unsigned char *out, const unsigned char *in, const unsigned char *result) {
        const auto decode = [](const unsigned char *bytes) {
            const unsigned bits = load<typename Format::Bits>(bytes);
            const double sign = bits & sign_bit<Format> ? -1 : 1;
            if (is_nan<Format>(bits)) return std::numeric_limits<float>::quiet_NaN();
            if (is_infinite<Format>(bits))
                return static_cast<float>(sign * std::numeric_limits<float>::infinity());
            return static_cast<float>(value_of(bits, Format::fraction_bits, Format::exponent_bits));
        };
        const float a = decode(out), b = decode(in), r = decode(result);
        if (op == Op::max || op == Op::min) return float_holds(op, a, b, r);
        const float exact = op == Op::sum ? a + b : a * b;
        if (std::isnan(exact)) return std::isnan(r);
        return load<typename Format::Bits>(result) == nearest<Format>(exact);
    }};

template <class T>
constexpr Model complex_model = {
    [](Rng &rng, unsigned char *element) {
        store(element, random_float<T>(rng));
        store(element + sizeof(T), random_float<T>(rng));
    },
    [](Op op, const unsigned char *out, const unsigned char *in, const unsigned char *result) {
        const T a = load<T>(out), b = load<T>(out + sizeof(T));
        const T c = load<T>(in), d = load<T>(in + sizeof(T));
        const T re = load<T>(result), im = load<T>(result + sizeof(T));
        if (op == Op::sum) return same(re, a + c) && same(im, b + d);
        return same(re, times(a, c) - times(b, d)) && same(im, times(a, d) + times(b, c));
    }};

template <class Value, class Index>
constexpr Model pair_model = {
    [](Rng &rng, unsigned char *element) {
        store(element, static_cast<Value>(rng.between(-3, 3)));
        store(element + sizeof(Value), static_cast<Index>(rng.between(-1000, 1000)));
    },
    [](Op op, const unsigned char *out, const unsigned char *in, const unsigned char *result) {
        const Value a = load<Value>(out), b = load<Value>(in);
        const Index i = load<Index>(out + sizeof(Value)), j = load<Index>(in + sizeof(Value));
        const Value value = op == Op::maxloc ? std::max(a, b) : std::min(a, b);
        const Index index = a == b ? std::min(i, j) : value == a ? i : j;
        return load<Value>(result) == value && load<Index>(result + sizeof(Value)) == index;
    }};

const Model *model_of(Element element) {
    switch (element) {
    case Element::byte:
    case Element::bool8:
    case Element::uint8: return &integer_model<uint8_t>;
    case Element::uint16: return &integer_model<uint16_t>;
    case Element::uint32: return &integer_model<uint32_t>;
    case Element::uint64: return &integer_model<uint64_t>;
    case Element::int8: return &integer_model<int8_t>;
    case Element::int16: return &integer_model<int16_t>;
    case Element::int32: return &integer_model<int32_t>;
    case Element::int64: return &integer_model<int64_t>;
    case Element::float16: return &half_model<Float16Format>;
    case Element::bfloat16: return &half_model<BFloat16Format>;
    case Element::float8_e4m3: return &half_model<E4M3Format>;
    case Element::float8_e5m2: return &half_model<E5M2Format>;
    case Element::float32: return &float_model<float>;
    case Element::float64: return &float_model<double>;
    case Element::x87_80:
    case Element::binary128: return &float_model<long double>;
    case Element::complex32: return &complex_model<float>;
    case Element::complex64: return &complex_model<double>;
    case Element::complex_x87_80:
    case Element::complex_binary128: return &complex_model<long double>;
    case Element::float32_int32: return &pair_model<float, int32_t>;
    case Element::float64_int32: return &pair_model<double, int32_t>;
    case Element::int64_int32: return &pair_model<int64_t, int32_t>;
    case Element::int32_int32: return &pair_model<int32_t, int32_t>;
    case Element::int16_int32: return &pair_model<int16_t, int32_t>;
    case Element::x87_80_int32:
    case Element::binary128_int32: return &pair_model<long double, int32_t>;
    case Element::float32_float32: return &pair_model<float, float>;
    case Element::float64_float64: return &pair_model<double, double>;
    default: return nullptr;
    }
}

// `count` elements inside one allocation, at an address of any alignment, between guard bytes.
class Operand {
public:
    Operand(Rng &rng, const Model &model, std::size_t size, std::size_t count)
        : begin_(guard + rng.below(64)), bytes_(size * count),
          all_(begin_ + bytes_ + guard, static_cast<unsigned char>(0x5a)) {
        for (std::size_t i = 0; i < count; ++i) model.fill(rng, data() + i * size);
    }

    unsigned char *data() { return all_.data() + begin_; }
    const unsigned char *data() const { return all_.data() + begin_; }

    bool guards_hold() const {
        const auto untouched = [](unsigned char byte) { return byte == 0x5a; };
        return std::all_of(all_.data(), data(), untouched) &&
               std::all_of(data() + bytes_, all_.data() + all_.size(), untouched);
    }

private:
    static constexpr std::size_t guard = 64;
    std::size_t begin_, bytes_;
    std::vector<unsigned char> all_;
};

} // namespace

TEST_CASE("reduce kernels combine each element with its partner") {
    for (const KernelSet *set : kernel_sets())
        for (const ReduceKernelInfo &kernel : set->reductions) {
            const std::size_t size = packed_size(kernel.element);
            const Model *const model = model_of(kernel.element);
            REQUIRE(model != nullptr);
            Rng rng(ucdtest::mix_seed(static_cast<uint64_t>(kernel.element), kernel.name()));
            for (const std::size_t count :
                 {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1001})
                for (int trial = 0; trial < 3; ++trial) {
                    INFO(set->instructions << ' ' << kernel.name() << ", " << count
                                           << " elements, trial " << trial);
                    const Operand in(rng, *model, size, count);
                    const Operand before(rng, *model, size, count);
                    Operand out = before;
                    const Operand in_before = in;
                    kernel.function(out.data(), in.data(), count);
                    std::size_t wrong = 0;
                    for (std::size_t i = 0; i < count * size; i += size)
                        wrong += !model->holds(kernel.op, before.data() + i, in.data() + i,
                                               out.data() + i);
                    CHECK(wrong == 0);
                    CHECK(out.guards_hold());
                    CHECK(std::equal(in.data(), in.data() + count * size, in_before.data()));
                }
        }
}

TEST_CASE("the reduce table has what the contract defines") {
    std::size_t found = 0;
    for (int o = 0; o < static_cast<int>(Op::count_); ++o)
        for (int e = 0; e < static_cast<int>(Element::count_); ++e) {
            const Op op = static_cast<Op>(o);
            const Element element = static_cast<Element>(e);
            INFO("op " << o << ", element " << e);
            const bool defined = is_reduction(op) && (defined_ops(element) & op_bit(op)) != 0;
            CHECK((reduce_kernel(op, element) != nullptr) == defined);
            for (const KernelSet *set : kernel_sets())
                CHECK((set->reductions.find(op, element) != nullptr) == defined);
            found += defined;
        }
    for (const KernelSet *set : kernel_sets()) CHECK(set->reductions.size() == found);
    for (const ReduceKernelInfo &kernel : kernel_sets()[0]->reductions) {
        INFO(kernel.name());
        CHECK(reduce_kernel(kernel.op, kernel.element) == kernel.function);
    }
}

TEMPLATE_TEST_CASE("every half converts to its value and back", "", Float16Format, BFloat16Format,
                   E4M3Format, E5M2Format) {
    for (unsigned bits = 0; bits < 2 * sign_bit<TestType>; ++bits) {
        const typename TestType::Half half{static_cast<typename TestType::Bits>(bits)};
        const float value = to_float(half);
        const unsigned back = TestType::from(value).bits;
        const bool negative = (bits & sign_bit<TestType>) != 0;
        const unsigned quiet = 1u << (TestType::fraction_bits - 1);
        bool right;
        if (is_nan<TestType>(bits)) {
            right = std::isnan(value) && back == (bits | quiet);
        } else if (is_infinite<TestType>(bits)) {
            right = std::isinf(value) && std::signbit(value) == negative && back == bits;
        } else {
            right = value == value_of(bits, TestType::fraction_bits, TestType::exponent_bits) &&
                    std::signbit(value) == negative && back == bits;
        }
        if (!right) FAIL_CHECK("bits " << bits << ", value " << value << ", back " << back);
    }
}

TEMPLATE_TEST_CASE("floats round to the nearest half, ties to even", "", Float16Format,
                   BFloat16Format, E4M3Format, E5M2Format) {
    // Around every half and around the middle between it and the next one.
    for (unsigned bits = 0; bits < beyond_bits<TestType>; ++bits) {
        const double here = value_of(bits, TestType::fraction_bits, TestType::exponent_bits);
        const double next = value_of(bits + 1, TestType::fraction_bits, TestType::exponent_bits);
        const float middle = static_cast<float>(here + (next - here) / 2);
        for (const float value : {static_cast<float>(here), middle})
            for (const float near :
                 {value, std::nextafter(value, -INFINITY), std::nextafter(value, INFINITY)})
                if (!rounds_right<TestType>(near) || !rounds_right<TestType>(-near))
                    FAIL_CHECK(near << " becomes " << TestType::from(near).bits);
    }
    Rng rng(7);
    for (int i = 0; i < 300000; ++i) {
        const float value = std::bit_cast<float>(static_cast<uint32_t>(rng.bits()));
        const unsigned bits = TestType::from(value).bits;
        if (std::isnan(value)) {
            const unsigned quiet = 1u << (TestType::fraction_bits - 1);
            if (!is_nan<TestType>(bits) || !(bits & quiet)) FAIL_CHECK("NaN becomes " << bits);
        } else if (!rounds_right<TestType>(value)) {
            FAIL_CHECK(value << " becomes " << bits);
        }
    }
    CHECK(TestType::from(FLT_MAX).bits == beyond_bits<TestType>);
    CHECK(TestType::from(INFINITY).bits == beyond_bits<TestType>);
    CHECK(TestType::from(-INFINITY).bits == (beyond_bits<TestType> | sign_bit<TestType>));
}

#if defined(__SSE__)
// Not inline, so that no arithmetic moves across the changes of mode around it.
template <class Format>
[[gnu::noinline]] static std::size_t wrong_conversions(const std::vector<float> &values) {
    std::size_t wrong = 0;
    for (unsigned bits = 0; bits < values.size(); ++bits) {
        const typename Format::Half half{static_cast<typename Format::Bits>(bits)};
        wrong += to_float(half) != values[bits] || Format::from(values[bits]).bits != bits;
    }
    return wrong;
}

TEMPLATE_TEST_CASE("conversions do not need subnormal floats", "", Float16Format, E4M3Format,
                   E5M2Format) {
    std::vector<float> values;
    for (unsigned bits = 0; bits < beyond_bits<TestType>; ++bits)
        values.push_back(
            static_cast<float>(value_of(bits, TestType::fraction_bits, TestType::exponent_bits)));
    const unsigned usual = _mm_getcsr();
    _mm_setcsr(usual | 0x8040); // flush results to zero, take subnormal operands as zero
    const std::size_t wrong = wrong_conversions<TestType>(values);
    _mm_setcsr(usual);
    CHECK(wrong == 0);
}
#endif

} // namespace reduce_kernels_test
