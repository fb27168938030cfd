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

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define UCD_MODELS_CONVERTS
#endif

namespace ucd_models {

namespace {

constexpr uint32_t threads = 256;
// Chunks that a thread loads before it stores any.
template <class Work, uint32_t vector>
constexpr uint32_t
    at_once = vector * sizeof(typename Work::To) == 16 && sizeof(typename Work::From) == 1 ? 4 : 2;

struct Few {
    Member member[max_few];
};

template <class Element, uint32_t count>
struct alignas(count * sizeof(Element) < 16 ? count * sizeof(Element) : 16) Chunk {
    Element element[count];
};

// False: it is in no page.
template <uint32_t vector>
__device__ bool find(const Member &of, uint32_t number, Offsets &at) {
    uint32_t token = 0;
    for (uint32_t d = of.digits; d-- > 0;) {
        const Digit &digit = of.digit[d];
        const bool is_last = d + 1 == of.digits;
        const uint32_t rest = is_last ? of.of_last(number) : digit.size(number);
        uint32_t i = number - rest * (is_last ? of.of_last.by : digit.size.by);
        number = rest;
        if (is_last) i *= vector;
        if (static_cast<int32_t>(d) == of.token) token = i;
        at.side[0] += i * digit.stride[0];
        at.side[1] += i * digit.stride[1];
        if (digit.scale != 0) at.scale += digit.block(i + digit.phase) * digit.scale;
    }
    return of.token < 0 || add_token(of, token, at);
}

#if defined(UCD_MODELS_CONVERTS)

// The device's instructions, two elements at a time, for values that they treat as the functions of
// numbers.h do.
template <class From>
__device__ void widen(const typename From::Bits *in, float *out) {
    if constexpr (From::is_small) {
        uint16_t two;
        uint32_t halves;
        memcpy(&two, in, 2);
        if constexpr (From::has_infinity)
            asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(two));
        else
            asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(two));
        asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}"
            : "=f"(out[0]), "=f"(out[1])
            : "r"(halves));
    } else if constexpr (From::bias == 15) {
        asm("cvt.f32.f16 %0, %1;" : "=f"(out[0]) : "h"(in[0]));
        asm("cvt.f32.f16 %0, %1;" : "=f"(out[1]) : "h"(in[1]));
    } else if constexpr (sizeof(typename From::Bits) == 2) {
        uint32_t two;
        memcpy(&two, in, 4);
        out[0] = float_of(two << 16);
        out[1] = float_of(two & 0xffff0000u);
    } else {
        memcpy(out, in, 8);
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

// Results from here on may become more than the largest number: a little less than half way to the
// power of two above it, or of E4M3 to its NaN, where a quotient may still be wrong by two units of
// its last place.
template <class To>
constexpr float beyond_of = sizeof(typename To::Bits) == 4 ? __builtin_huge_valf()
                            : !To::has_infinity            ? 463.99f
                            : To::is_small                 ? 61439.0f
                            : To::bias == 15               ? 65520.0f
                                                           : 0x1.ffp127f;

// The result by an ordinary scale, before it is rounded to the format: nearly the exact one, or one
// that rounds as it.
template <class From, class To, bool exactly>
__device__ float scaled(float value, const Scale &scale) {
    if constexpr (divides<From, To>)
        return exactly ? with_sign_of(quotient(value, scale), value, scale.value)
                       : value * scale.reciprocal;
    else if constexpr (multiplies<From, To>)
        return exactly ? product<To>(value, scale) : value * scale.value;
    else
        return value;
}

// By an ordinary scale. False: a result is not finite, or is a NaN.
template <class From, class To, uint32_t count>
__device__ bool convert_all(const typename From::Bits *in, typename To::Bits *out,
                            const Scale &scale) {
    // A result matters to more than its own bits only near the middle between two numbers of the
    // format. The bits below those of a middle are 0 there; a quotient may be wrong by two units of
    // its last place.
    constexpr bool rounds_twice =
        divides<From, To> || (multiplies<From, To> && sizeof(typename To::Bits) == 2);
    constexpr uint32_t above = divides<From, To> ? 13 : 20, wrong = divides<From, To> ? 2 : 0;
    float wide[count], results[count], largest = 0;
    uint32_t nearest = ~0u;
#pragma unroll
    for (uint32_t i = 0; i < count; i += 2) widen<From>(&in[i], &wide[i]);
#pragma unroll
    for (uint32_t i = 0; i < count; ++i) {
        results[i] = scaled<From, To, false>(wide[i], scale);
        if constexpr (rounds_twice) {
            const uint32_t distance = (bits_of(results[i]) << above) + (wrong << above);
            nearest = distance < nearest ? distance : nearest;
        }
        // Unlike fmaxf, it keeps NaNs.
        asm("max.NaN.f32 %0, %1, %2;"
            : "=f"(largest)
            : "f"(largest), "f"(__builtin_fabsf(results[i])));
    }
    if constexpr (rounds_twice) {
        if (nearest <= 2 * wrong << above && !scale.is_power_of_two) {
#pragma unroll
            for (uint32_t i = 0; i < count; ++i)
                results[i] = scaled<From, To, true>(wide[i], scale);
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < count; i += 2) narrow<To>(&results[i], &out[i]);
    return largest < beyond_of<To>;
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
    uint32_t limit;

    template <uint32_t count>
    __device__ void operator()(const Chunk<From, count> &from, Chunk<To, count> &to,
                               float value) const {
#if defined(UCD_MODELS_CONVERTS)
        if constexpr (count % 2 == 0) {
            const Scale scale = has_scale ? scale_of(value) : Scale{1, 1, true, true};
            if (convert_all<F, T, count>(from.element, to.element, scale) && scale.is_ordinary)
                return;
        }
#endif
#pragma unroll
        for (uint32_t i = 0; i < count; ++i)
            to.element[i] = static_cast<To>(convert_one<F, T>(from.element[i], value, limit));
    }
};

template <class Bits>
struct Copy {
    using From = Bits;
    using To = Bits;
    static constexpr bool has_scale = false;
    template <uint32_t count>
    __device__ void operator()(const Chunk<From, count> &from, Chunk<To, count> &to, float) const {
        to = from;
    }
};

template <class Work, uint32_t vector>
__global__ void __launch_bounds__(threads, 4)
    move(const UCD_MODELS_PARAMETER Few few, const Member *list, Work work) {
    __shared__ Member of;
    const auto *const words =
        reinterpret_cast<const uint32_t *>(list ? &list[blockIdx.y] : &few.member[blockIdx.y]);
    for (uint32_t i = threadIdx.x; i < sizeof(Member) / 4; i += threads)
        reinterpret_cast<uint32_t *>(&of)[i] = words[i];
    __syncthreads();
    constexpr uint32_t many = at_once<Work, vector>;
    const uint32_t apart = gridDim.x * threads;
    for (uint64_t first = blockIdx.x * threads + threadIdx.x; first < of.chunks;
         first += many * apart) {
        Chunk<typename Work::From, vector> in[many];
        char *out[many];
        float scale[many];
#pragma unroll
        for (uint32_t k = 0; k < many; ++k) {
            Offsets at = {{0, 0}, 0};
            const uint64_t number = first + uint64_t{k} * apart;
            const bool is_there =
                number < of.chunks && find<vector>(of, static_cast<uint32_t>(number), at);
            out[k] = is_there ? reinterpret_cast<char *>(of.target) + at.side[1] : nullptr;
            if (!is_there) continue;
            in[k] = *reinterpret_cast<const Chunk<typename Work::From, vector> *>(of.source +
                                                                                  at.side[0]);
            scale[k] = of.constant;
            if (Work::has_scale && of.scale)
                scale[k] = *reinterpret_cast<const float *>(of.scale + at.scale);
        }
#pragma unroll
        for (uint32_t k = 0; k < many; ++k) {
            if (!out[k]) continue;
            Chunk<typename Work::To, vector> result;
            work(in[k], result, scale[k]);
            *reinterpret_cast<Chunk<typename Work::To, vector> *>(out[k]) = result;
        }
    }
}

struct Launch {
    Few few;
    const Member *list;
    uint32_t count, vector, most_chunks, processors;
    bool saturate;
    UCD_MODELS_VENDOR(Stream_t) stream;

    template <class Work, uint32_t widest>
    void start(Work work) const {
        const uint32_t of_block = threads * at_once<Work, widest>;
        const uint32_t needed = (most_chunks + of_block - 1) / of_block;
        const uint32_t room = processors * 32 / count + 1; // more blocks gain nothing
        const dim3 grid(needed < room ? needed : room, count);
        if (vector == widest)
            move<Work, widest><<<grid, threads, 0, stream>>>(few, list, work);
        else if (vector == 4)
            move<Work, 4><<<grid, threads, 0, stream>>>(few, list, work);
        else
            move<Work, 1><<<grid, threads, 0, stream>>>(few, list, work);
    }
    template <class From, class To>
    void convert() const {
        constexpr auto widest =
            vector_of(sizeof(typename From::Bits), sizeof(typename To::Bits), false);
        start<Conversion<From, To>, widest>({limit_of<To>(saturate)});
    }
    template <class Bits>
    void copy() const {
        start<Copy<Bits>, vector_of(sizeof(Bits), sizeof(Bits), true)>({});
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
    if (count == 0) return nullptr;
    if (count > 65535 || (!on_device && count > max_few)) return "there are too many parts";
    const At at(device);
    int processors = 1;
    (void)UCD_MODELS_VENDOR(DeviceGetAttribute)(&processors, UCD_MODELS_PROCESSORS, device);
    Launch launch{{},
                  on_device,
                  count,
                  vector,
                  0,
                  static_cast<uint32_t>(processors),
                  kind.saturate,
                  static_cast<UCD_MODELS_VENDOR(Stream_t)>(stream)};
    for (uint32_t i = 0; i < count; ++i) {
        if (!on_device) launch.few.member[i] = members[i];
        if (members[i].chunks > launch.most_chunks) launch.most_chunks = members[i].chunks;
    }
    if (!for_kind(kind.from, kind.to, launch)) return "there is no kernel for these elements";
    const auto status = UCD_MODELS_VENDOR(GetLastError)();
    return status == UCD_MODELS_VENDOR(Success) ? nullptr
                                                : UCD_MODELS_VENDOR(GetErrorString)(status);
}
