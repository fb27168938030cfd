#include "baselines/reductions.hpp"

#include "baselines/cpu/copy.hpp"

#include <array>
#include <bit>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace bench::hand {
namespace {

template <ReductionOp op, class T>
T combined(T a, T b) {
    if constexpr (op == ReductionOp::sum) return a + b;
    if constexpr (op == ReductionOp::min) return b < a ? b : a;
    return b > a ? b : a;
}

// Elements that processors compute with.
template <class T>
struct Plain {
    using Value = T;
    template <ReductionOp op, std::int64_t length>
    [[gnu::always_inline]] static void reduce(T *__restrict out, const T *__restrict in) {
        for (std::int64_t i = 0; i < length; ++i) out[i] = combined<op>(out[i], in[i]);
    }
};

#if defined(__F16C__)

struct Float16 {
    using Value = std::uint16_t;
    template <ReductionOp op>
    static Value one(Value a, Value b) {
        return _cvtss_sh(combined<op>(_cvtsh_ss(a), _cvtsh_ss(b)), _MM_FROUND_TO_NEAREST_INT);
    }
    template <ReductionOp op, std::int64_t length>
    [[gnu::always_inline]] static void reduce(Value *__restrict out, const Value *__restrict in) {
        std::int64_t i = 0;
#if defined(__AVX512F__) && defined(__AVX512VL__)
        // Without masks, GCC 12's header reads something uninitialised.
        for (; i + 16 <= length; i += 16) {
            const __m512 a = _mm512_maskz_cvtph_ps(0xffff, load<__m256i>(out + i)),
                         b = _mm512_maskz_cvtph_ps(0xffff, load<__m256i>(in + i));
            const __m512 result = op == ReductionOp::sum   ? _mm512_add_ps(a, b)
                                  : op == ReductionOp::min ? _mm512_maskz_min_ps(0xffff, b, a)
                                                           : _mm512_maskz_max_ps(0xffff, b, a);
            store(out + i, _mm512_maskz_cvtps_ph(0xffff, result, _MM_FROUND_TO_NEAREST_INT));
        }
#endif
        for (; i + 8 <= length; i += 8) {
            const __m256 a = _mm256_cvtph_ps(load<__m128i>(out + i)),
                         b = _mm256_cvtph_ps(load<__m128i>(in + i));
            const __m256 result = op == ReductionOp::sum   ? _mm256_add_ps(a, b)
                                  : op == ReductionOp::min ? _mm256_min_ps(b, a)
                                                           : _mm256_max_ps(b, a);
            store(out + i, _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
        }
        for (; i < length; ++i) out[i] = one<op>(out[i], in[i]);
    }

private:
    template <class V>
    static V load(const Value *from) {
        V v;
        std::memcpy(&v, from, sizeof v);
        return v;
    }
    template <class V>
    static void store(Value *to, V v) {
        std::memcpy(to, &v, sizeof v);
    }
};

#endif

// The upper halves of floats.
struct BFloat16 {
    using Value = std::uint16_t;
    [[gnu::always_inline]] static float wide(Value v) {
        return std::bit_cast<float>(std::uint32_t{v} << 16);
    }
    [[gnu::always_inline]] static Value narrow(float f) {
        const auto bits = std::bit_cast<std::uint32_t>(f);
        const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
        return static_cast<Value>((f != f ? bits | 0x400000 : rounded) >> 16);
    }
    template <ReductionOp op, std::int64_t length>
    [[gnu::always_inline]] static void reduce(Value *__restrict out, const Value *__restrict in) {
        for (std::int64_t i = 0; i < length; ++i)
            out[i] = narrow(combined<op>(wide(out[i]), wide(in[i])));
    }
};

template <class Element, ReductionOp op, To to, std::int64_t length, std::int64_t stride>
void reduce_blocks(char *typed, char *packed, std::int64_t count) {
    using Value = typename Element::Value;
    auto *__restrict const there = reinterpret_cast<Value *>(typed);
    auto *__restrict const here = reinterpret_cast<Value *>(packed);
    for (std::int64_t i = 0; i < count; ++i) {
        if constexpr (to == To::packed)
            Element::template reduce<op, length>(here + i * length, there + i * stride);
        else
            Element::template reduce<op, length>(there + i * stride, here + i * length);
    }
}

template <class Element, ReductionOp op, std::int64_t length, std::int64_t stride>
constexpr ReductionMoves loops(Number number) {
    return {number,
            op,
            length,
            stride,
            reduce_blocks<Element, op, To::packed, length, stride>,
            reduce_blocks<Element, op, To::typed, length, stride>};
}

// A block of 1024 stands for consecutive elements.
template <class Element, ReductionOp op>
constexpr std::array<ReductionMoves, 6> shapes_of(Number n) {
    return {loops<Element, op, 1024, 1024>(n), loops<Element, op, 1, 2>(n),
            loops<Element, op, 1, 8>(n),       loops<Element, op, 1, 64>(n),
            loops<Element, op, 2, 8>(n),       loops<Element, op, 16, 64>(n)};
}

constexpr std::size_t per_number = 3 * 6;

template <class Element>
constexpr void add(ReductionMoves *to, Number n) {
    for (const auto &of_op :
         {shapes_of<Element, ReductionOp::sum>(n), shapes_of<Element, ReductionOp::min>(n),
          shapes_of<Element, ReductionOp::max>(n)})
        for (const ReductionMoves &one : of_op) *to++ = one;
}

constexpr auto all_reductions() {
#if defined(__F16C__)
    constexpr std::size_t numbers = 6;
#else
    constexpr std::size_t numbers = 5;
#endif
    std::array<ReductionMoves, numbers * per_number> all{};
    add<Plain<float>>(&all[0], Number::float32);
    add<Plain<double>>(&all[per_number], Number::float64);
    add<Plain<std::int32_t>>(&all[2 * per_number], Number::int32);
    add<Plain<std::int64_t>>(&all[3 * per_number], Number::int64);
    add<BFloat16>(&all[4 * per_number], Number::bfloat16);
#if defined(__F16C__)
    add<Float16>(&all[5 * per_number], Number::float16);
#endif
    return all;
}

} // namespace

std::span<const ReductionMoves> reductions() {
    static constexpr auto all = all_reductions();
    return all;
}

} // namespace bench::hand
