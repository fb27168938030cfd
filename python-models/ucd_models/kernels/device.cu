// Moves on devices of CUDA and HIP: one launch for all members. A library of its own, which the
// extension opens.
#include "pairs.h"

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define UCD_MODELS_PARAMETER
#define UCD_MODELS_VENDOR(name) hip##name
#define UCD_MODELS_PROCESSORS hipDeviceAttributeMultiprocessorCount
#else
#include <cuda_runtime.h>
#define UCD_MODELS_PARAMETER __grid_constant__
#define UCD_MODELS_VENDOR(name) cuda##name
#define UCD_MODELS_PROCESSORS cudaDevAttrMultiProcessorCount
#endif

// Tests run the kernels on the host, and define these otherwise.
#if !defined(UCD_MODELS_LAUNCHED)
#define UCD_MODELS_LAUNCHED(kernel, grid, threads, stream) kernel<<<grid, threads, 0, stream>>>
#define UCD_MODELS_THREADS 256
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define UCD_MODELS_CONVERTS
#endif

namespace ucd_models {

namespace {

constexpr uint32_t threads = UCD_MODELS_THREADS;

struct Few {
    Member member[max_few];
};

// At most 16 bytes, which are loaded and stored at once.
template <class Element, uint32_t count>
struct alignas(count * sizeof(Element)) Chunk {
    Element element[count];
};

// A thread moves these chunks: the first one and those at distances of `lanes` from it, before
// `end`.
struct Unit {
    const char *from;
    char *to;
    float scale;
    uint32_t first, end;
};

// Instructions for any memory take longer.
template <class Element, class Byte>
__device__ Element &in_memory(Byte *address) {
    auto *const at = reinterpret_cast<Element *>(address);
#if defined(__CUDA_ARCH__)
    __builtin_assume(__isGlobal(at));
#endif
    return *at;
}

// False: there is nothing to move, or it is in no page.
template <uint32_t vector, bool has_scale>
__device__ bool find(const Member &of, uint32_t number, Unit &unit) {
    uint32_t rest = of.digits > 1 ? of.of_row(number) : 0;
    const uint32_t within = number - rest * of.of_row.by;
    const uint32_t start = (within >> of.shift) * of.span;
    unit.first = start + (within & ((1u << of.shift) - 1));
    unit.end = start + of.span < of.row ? start + of.span : of.row;
    if (unit.first >= unit.end) return false;
    Offsets at = {{0, 0}, 0};
    uint32_t token = 0, i = unit.first * vector;
    for (uint32_t d = of.digits - 1;;) {
        const Digit &digit = of.digit[d];
        if (static_cast<int32_t>(d) == of.token) token = i;
        at.side[0] += i * digit.stride[0];
        at.side[1] += i * digit.stride[1];
        if (has_scale && digit.scale != 0) at.scale += digit.block(i + digit.phase) * digit.scale;
        if (d == 0) break;
        const Divisor &size = of.digit[--d].size;
        const uint32_t number_of_next = d == 0 ? 0 : size(rest);
        i = rest - number_of_next * size.by;
        rest = number_of_next;
    }
    if (of.token >= 0 && !add_token(of, token, at)) return false;
    unit.from = reinterpret_cast<const char *>(of.source) + at.side[0];
    unit.to = reinterpret_cast<char *>(of.target) + at.side[1];
    unit.scale = has_scale && of.scale
                     ? in_memory<const float>(reinterpret_cast<const char *>(of.scale) + at.scale)
                     : of.constant;
    return true;
}

#if defined(UCD_MODELS_CONVERTS)

// The device's instructions convert two elements at a time, for values that they treat as the
// functions of numbers.h do. `largest` becomes the largest magnitude so far, or NaN if there is
// one: of two halves, or of one float.
template <class From>
__device__ void widen(const typename From::Bits *in, float *out, uint32_t &largest) {
    uint32_t two;
    if constexpr (From::is_small) {
        uint16_t bytes;
        memcpy(&bytes, in, 2);
        if constexpr (From::has_infinity)
            asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(two) : "h"(bytes));
        else
            asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"(bytes));
    } else {
        memcpy(&two, in, 4);
    }
    if constexpr (From::bias == 15 || From::is_small) {
        asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}"
            : "=f"(out[0]), "=f"(out[1])
            : "r"(two));
        asm("{.reg .b32 a; abs.f16x2 a, %1; max.NaN.f16x2 %0, %0, a;}" : "+r"(largest) : "r"(two));
    } else if constexpr (sizeof(typename From::Bits) == 2) {
        out[0] = float_of(two << 16);
        out[1] = float_of(two & 0xffff0000u);
        asm("{.reg .b32 a; abs.bf16x2 a, %1; max.NaN.bf16x2 %0, %0, a;}"
            : "+r"(largest)
            : "r"(two));
    } else {
        memcpy(out, in, 8);
        for (const int i : {0, 1})
            asm("{.reg .b32 a; abs.f32 a, %1; max.NaN.f32 %0, %0, a;}"
                : "+r"(largest)
                : "f"(out[i]));
    }
}
template <class To>
__device__ void narrow(const float *in, typename To::Bits *out) {
    if constexpr (To::is_small) {
        uint16_t two;
        if constexpr (To::has_infinity)
            asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(two) : "f"(in[1]), "f"(in[0]));
        else
            asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(in[1]), "f"(in[0]));
        memcpy(out, &two, 2);
    } else if constexpr (sizeof(typename To::Bits) == 2) {
        uint32_t two;
        if constexpr (To::bias == 15)
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(in[1]), "f"(in[0]));
        else
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(in[1]), "f"(in[0]));
        memcpy(out, &two, 4);
    } else {
        memcpy(out, in, 8);
    }
}

template <class From>
__device__ float float_of_largest(uint32_t largest) {
    float one = float_of(largest), other = 0;
    if constexpr (From::bias == 15 || From::is_small)
        asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}"
            : "=f"(one), "=f"(other)
            : "r"(largest));
    else if constexpr (sizeof(typename From::Bits) == 2)
        one = float_of(largest << 16), other = float_of(largest & 0xffff0000u);
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(one) : "f"(other));
    return one;
}

// Results that are as large may become more than the largest number: of formats of 8 bits, those
// from a little less than half way to the power of two above it, or of E4M3 to its NaN.
template <class To>
__device__ float beyond_of(bool saturate) {
    if (To::is_small && saturate) return __builtin_huge_valf(); // as the instructions do
    return sizeof(typename To::Bits) == 4 ? __builtin_huge_valf()
           : !To::has_infinity            ? 463.99f
           : To::is_small                 ? 61439.0f
           : To::bias == 15               ? 65520.0f
                                          : 0x1.ffp127f;
}

// By an ordinary scale, with what is the same for all elements that have it. Results are made odd,
// as those of numbers.h: they are rounded towards 0, and the last bit is set if that was inexact.
//
// A product of an 8-bit number and a scale of at most 13 bits is exact. With more bits, the scale's
// lowest one is the product's or lower, so that it has more bits than a middle between two numbers
// of 16 bits: whether it is exact does not matter.
//
// A quotient is the sum of products with the two floats that are the reciprocal together, to 40
// bits. These are made larger by 2^-33. So an exact quotient is not rounded to the float below it;
// and no middle is passed, since quotients that are not one differ from it by 2^-29 at least: such
// a middle has 5 bits, and its product with the scale 29. Of numbers of 16 bits, quotients by
// scales of more than 13 bits are no middles, which have fewer. Of floats, what is left is
// computed.
template <class From, class To>
struct Factor {
    float scale, first, second;
    uint32_t odd;

    __device__ explicit Factor(float value) : scale(value), odd((bits_of(value) & 0x7ffu) != 0) {
        if constexpr (divides<From, To>) {
            asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(first) : "f"(value));
            first = float_of(bits_of(first) - 4); // less than the reciprocal: both have one sign
            second = __builtin_fmaf(__builtin_fmaf(-first, value, 1.0f), first, first * 0x1p-33f);
        }
    }
    __device__ float operator()(float value) const {
        if constexpr (divides<From, To>) {
            const float result = __fmaf_rz(value, first, value * second);
            const uint32_t rest = From::fraction_bits == 23
                                      ? bits_of(__builtin_fmaf(-result, scale, value)) >> 24 & 0x7fu
                                      : odd;
            return float_of(bits_of(result) | rest);
        } else if constexpr (multiplies<From, To> && sizeof(typename To::Bits) == 2) {
            return float_of(bits_of(__fmul_rz(value, scale)) | odd);
        } else if constexpr (multiplies<From, To>) {
            return value * scale;
        } else {
            return value;
        }
    }
};

// False: a result is beyond, or NaN, or the scale is not ordinary.
template <class From, class To, uint32_t count, uint32_t vector>
__device__ bool convert_all(const Chunk<typename From::Bits, vector> (&in)[count],
                            Chunk<typename To::Bits, vector> (&out)[count], float scale,
                            float beyond) {
    constexpr bool has_scale = divides<From, To> || multiplies<From, To>;
    const Factor<From, To> factor(scale);
    uint32_t largest = 0;
#pragma unroll
    for (uint32_t k = 0; k < count; ++k) {
        float wide[vector];
#pragma unroll
        for (uint32_t i = 0; i < vector; i += 2) widen<From>(&in[k].element[i], &wide[i], largest);
#pragma unroll
        for (uint32_t i = 0; i < vector; ++i) wide[i] = factor(wide[i]);
#pragma unroll
        for (uint32_t i = 0; i < vector; i += 2) narrow<To>(&wide[i], &out[k].element[i]);
    }
    const float result = factor(float_of_largest<From>(largest));
    return __builtin_fabsf(result) < beyond && (!has_scale || is_ordinary(scale));
}

#endif

// The rare and the general ones.
template <class From, class To>
__device__ __attribute__((noinline)) uint32_t convert_one(uint32_t number, float value,
                                                          uint32_t limit) {
    const Scale scale = scale_of(value);
    return scale.is_ordinary ? converted<From, To, true>(number, scale, limit)
                             : converted<From, To, false>(number, scale, limit);
}

template <class F, class T>
struct Conversion {
    using From = typename F::Bits;
    using To = typename T::Bits;
    static constexpr bool has_scale = divides<F, T> || multiplies<F, T>;
    bool saturate;

    // False: the elements need to be converted one by one.
    template <uint32_t count, uint32_t vector>
    __device__ bool operator()(const Chunk<From, vector> (&in)[count],
                               Chunk<To, vector> (&out)[count], float scale) const {
#if defined(UCD_MODELS_CONVERTS)
        if constexpr (vector % 2 == 0)
            return convert_all<F, T>(in, out, scale, beyond_of<T>(saturate));
#endif
        return false;
    }
    __device__ void one(const char *from, char *to, float scale) const {
        *reinterpret_cast<To *>(to) = static_cast<To>(
            convert_one<F, T>(*reinterpret_cast<const From *>(from), scale, limit_of<T>(saturate)));
    }
};

template <class Bits>
struct Copy {
    using From = Bits;
    using To = Bits;
    static constexpr bool has_scale = false;
    template <uint32_t count, uint32_t vector>
    __device__ bool operator()(const Chunk<From, vector> (&in)[count],
                               Chunk<To, vector> (&out)[count], float) const {
#pragma unroll
        for (uint32_t k = 0; k < count; ++k) out[k] = in[k];
        return true;
    }
    __device__ void one(const char *, char *, float) const {}
};

template <uint32_t vector, class Work>
__device__ void move_unit(const Member &of, const Unit &unit, Work work) {
    using From = Chunk<typename Work::From, vector>;
    using To = Chunk<typename Work::To, vector>;
    From in[most_at_once];
    To out[most_at_once];
    bool is_there[most_at_once];
#pragma unroll
    for (uint32_t k = 0; k < most_at_once; ++k) {
        is_there[k] = unit.first + (k << of.shift) < unit.end;
        // The first one takes the place of one that is not there.
        in[k] = in_memory<const From>(unit.from + (is_there[k] ? k * of.apart[0] : 0));
    }
    if (work(in, out, unit.scale)) {
#pragma unroll
        for (uint32_t k = 0; k < most_at_once; ++k)
            if (is_there[k]) in_memory<To>(unit.to + k * of.apart[1]) = out[k];
        return;
    }
    const Digit &last = of.digit[of.digits - 1];
#pragma unroll 1
    for (uint32_t k = 0; unit.first + (k << of.shift) < unit.end; ++k)
#pragma unroll 1
        for (uint32_t i = 0; i < vector; ++i)
            work.one(unit.from + k * of.apart[0] + i * last.stride[0],
                     unit.to + k * of.apart[1] + i * last.stride[1], unit.scale);
}

template <class Work, uint32_t vector>
__global__ void __launch_bounds__(threads, 5)
    move(const UCD_MODELS_PARAMETER Few few, const Member *list, Work work) {
    __shared__ Member of;
    const auto *const words =
        reinterpret_cast<const uint32_t *>(list ? &list[blockIdx.y] : &few.member[blockIdx.y]);
    for (uint32_t i = threadIdx.x; i < sizeof(Member) / 4; i += threads)
        reinterpret_cast<uint32_t *>(&of)[i] = words[i];
    __syncthreads();
    const uint32_t step = gridDim.x * threads;
    for (uint32_t number = blockIdx.x * threads + threadIdx.x; number < of.units; number += step) {
        Unit unit;
        if (find<vector, Work::has_scale>(of, number, unit)) move_unit<vector>(of, unit, work);
    }
}

struct Launch {
    Few few;
    const Member *list;
    uint32_t count, vector, most_units, processors;
    bool saturate;
    UCD_MODELS_VENDOR(Stream_t) stream;

    template <class Work, uint32_t widest>
    void start(Work work) const {
        const uint32_t needed = (most_units + threads - 1) / threads;
        const uint32_t room = processors * 32 / count + 1; // more blocks gain nothing
        const dim3 grid(needed < room ? needed : room, count);
        const auto kernel = vector == widest ? move<Work, widest>
                                             : widest > 4 && vector == 4 ? move < Work,
                   widest < 4 ? 1 : 4 > : move<Work, 1>;
        UCD_MODELS_LAUNCHED(kernel, grid, threads, stream)(few, list, work);
    }
    template <class From, class To>
    void convert() const {
        constexpr auto widest = vector_of(sizeof(typename From::Bits), sizeof(typename To::Bits));
        start<Conversion<From, To>, widest>({saturate});
    }
    template <class Bits>
    void copy() const {
        start<Copy<Bits>, vector_of(sizeof(Bits), sizeof(Bits))>({});
    }
};

// Makes a device the current one as long as it lives.
class At {
public:
    explicit At(int device) {
        if (UCD_MODELS_VENDOR(GetDevice)(&before_) != UCD_MODELS_VENDOR(Success)) before_ = device;
        if (before_ != device) (void)UCD_MODELS_VENDOR(SetDevice)(device);
    }
    ~At() { (void)UCD_MODELS_VENDOR(SetDevice)(before_); }
    At(const At &) = delete;
    At &operator=(const At &) = delete;

private:
    int before_ = 0;
};

} // namespace

} // namespace ucd_models

// Enqueues the members: those in the device's memory, or if that is NULL, at most max_few of the
// host's. Returns what has failed, or NULL.
extern "C" __attribute__((visibility("default"))) const char *
ucd_models_launch(const ucd_models::Member *members, const ucd_models::Member *on_device,
                  uint32_t count, uint32_t vector, ucd_models::Kind kind, int device,
                  void *stream) {
    using namespace ucd_models;
    if (!on_device && count > max_few) return "there are too many parts";
    const At at(device);
    int processors = 1;
    (void)UCD_MODELS_VENDOR(DeviceGetAttribute)(&processors, UCD_MODELS_PROCESSORS, device);
    // A grid has at most so many parts.
    constexpr uint32_t most = 65535;
    for (uint32_t begin = 0; begin < count; begin += most) {
        Launch launch{{},
                      on_device ? on_device + begin : nullptr,
                      count - begin < most ? count - begin : most,
                      vector,
                      0,
                      static_cast<uint32_t>(processors),
                      kind.saturate,
                      static_cast<UCD_MODELS_VENDOR(Stream_t)>(stream)};
        for (uint32_t i = 0; i < launch.count; ++i) {
            const Member &member = members[begin + i];
            if (!on_device) launch.few.member[i] = member;
            if (member.units > launch.most_units) launch.most_units = member.units;
        }
        if (!for_kind(kind.from, kind.to, launch)) return "there is no kernel for these elements";
        const auto status = UCD_MODELS_VENDOR(GetLastError)();
        if (status != UCD_MODELS_VENDOR(Success)) return UCD_MODELS_VENDOR(GetErrorString)(status);
    }
    return nullptr;
}
