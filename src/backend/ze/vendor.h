// Level Zero under the names that gpu_common has for a runtime. Nothing else in there knows it.
// Level Zero has no such runtime: what runtime.h declares, this folder does with command lists,
// events and modules. Kernels are compiled by clang in its HIP mode, which makes SPIR-V of C++.
#pragma once

#include <cstddef>
#include <cstdint>

// The namespace of everything that is compiled for this vendor, within ucd.
#define UCD_GPU ze

namespace ucd::UCD_GPU {

inline constexpr const char *vendor_name = "ze";
inline constexpr const char *runtime_name = "Level Zero";

struct alignas(16) Quad {
    uint32_t x, y, z, w;
};

} // namespace ucd::UCD_GPU

#if !defined(__HIP__)

#include "runtime_calls.h"

// The host only knows kernels by name; their bodies are not compiled for it.
#define UCD_GPU_FUNCTION inline
#define UCD_GPU_KERNEL(name, Params)                                                               \
    static Kernel name{#name, sizeof(Params)};                                                     \
    template <class>                                                                               \
    [[maybe_unused]] void body_of_##name([[maybe_unused]] const Params &params)
#define UCD_GPU_KERNEL_HANDLE(name) static_cast<const void *>(&name)
#define UCD_GPU_BLOCK                                                                              \
    uint32_t {}
#define UCD_GPU_BLOCKS                                                                             \
    uint32_t {}
#define UCD_GPU_FOR_EACH_THREAD(thread) if (const uint32_t thread = 0; true)
#define UCD_GPU_SHARED
#define UCD_GPU_BARRIER()

#include "half.h"

namespace ucd::UCD_GPU {

uint32_t high_product(uint32_t a, uint32_t b);
uint64_t high_product(uint64_t a, uint64_t b);
float float16_to_float(Float16 half);
Float16 float_to_float16(float value);
template <class T>
T load(uintptr_t address);
template <class T>
void store(uintptr_t address, T value);
template <class T>
T load_table(const T *address);

} // namespace ucd::UCD_GPU

#else

// Kernels --------------------------------------------------------------

#define UCD_ZE_DEVICE __attribute__((device))
// With linkage, each function would be kept for other modules.
#define UCD_GPU_FUNCTION __attribute__((device, internal_linkage)) inline
#define UCD_GPU_KERNEL(name, Params)                                                               \
    extern "C" __attribute__((global)) void name(const Params params)
// A kernel's parameters are in registers, of which each thread would make a copy in memory to find
// what has an index there. So a block has one copy.
#define UCD_GPU_INDEXING_KERNEL(name, Params)                                                      \
    UCD_GPU_FUNCTION void run_##name(const Params &params);                                        \
    extern "C" __attribute__((global)) void name(const RawParams<sizeof(Params)> params) {         \
        alignas(vector_bytes) UCD_GPU_SHARED RawParams<sizeof(Params)> shared;                     \
        copy_for_block(params, shared);                                                            \
        run_##name(*reinterpret_cast<const Params *>(&shared));                                    \
    }                                                                                              \
    UCD_GPU_FUNCTION void run_##name(const Params &params)
#define UCD_GPU_KERNEL_HANDLE(name) reinterpret_cast<const void *>(&name)
#define UCD_GPU_BLOCK static_cast<uint32_t>(__spirv_BuiltInWorkgroupId(0))
#define UCD_GPU_BLOCKS static_cast<uint32_t>(__spirv_BuiltInNumWorkgroups(0))
#define UCD_GPU_FOR_EACH_THREAD(thread)                                                            \
    if (const auto thread = static_cast<uint32_t>(__spirv_BuiltInLocalInvocationId(0)); true)
#define UCD_GPU_SHARED __attribute__((shared))
// Execution and memory of a work group; acquire and release, of its own memory.
#define UCD_GPU_BARRIER() __spirv_ControlBarrier(2, 2, 0x108)

// llvm-spirv knows these names as instructions of SPIR-V.
UCD_ZE_DEVICE std::size_t __spirv_BuiltInWorkgroupId(int dimension);
UCD_ZE_DEVICE std::size_t __spirv_BuiltInNumWorkgroups(int dimension);
UCD_ZE_DEVICE std::size_t __spirv_BuiltInLocalInvocationId(int dimension);
UCD_ZE_DEVICE void __spirv_ControlBarrier(unsigned execution, unsigned memory, unsigned semantics)
    __attribute__((convergent));
UCD_ZE_DEVICE unsigned __spirv_ocl_u_mul_hi(unsigned a, unsigned b);
UCD_ZE_DEVICE unsigned long __spirv_ocl_u_mul_hi(unsigned long a, unsigned long b);

#define UCD_HALF_FUNCTION UCD_GPU_FUNCTION
#include "half.h"

namespace ucd::UCD_GPU {

UCD_GPU_FUNCTION uint32_t high_product(uint32_t a, uint32_t b) {
    return __spirv_ocl_u_mul_hi(a, b);
}
UCD_GPU_FUNCTION uint64_t high_product(uint64_t a, uint64_t b) {
    return __spirv_ocl_u_mul_hi(a, b);
}

// In integers: no device needs to know float16 then.
UCD_GPU_FUNCTION float float16_to_float(Float16 half) {
    return to_float(half);
}
UCD_GPU_FUNCTION Float16 float_to_float16(float value) {
    return to_float16(value);
}

// A plain pointer is one of any memory, which costs each access a check. Only numbers and vectors
// can be read through one that says where it points.
typedef uint32_t RawQuad __attribute__((ext_vector_type(4)));
template <std::size_t alignment>
struct RawOf;
template <>
struct RawOf<1> {
    using Type = uint8_t;
};
template <>
struct RawOf<2> {
    using Type = uint16_t;
};
template <>
struct RawOf<4> {
    using Type = uint32_t;
};
template <>
struct RawOf<8> {
    using Type = uint64_t;
};
template <>
struct RawOf<16> {
    using Type = RawQuad;
};
template <class T>
struct RawWords {
    using Word = typename RawOf<alignof(T)>::Type;
    Word word[sizeof(T) / sizeof(Word)];
};
#define UCD_ZE_GLOBAL __attribute__((address_space(1)))

template <class T>
UCD_GPU_FUNCTION T load(uintptr_t address) {
    using Raw = RawWords<T>;
    Raw raw;
    const auto *from = reinterpret_cast<const UCD_ZE_GLOBAL typename Raw::Word *>(address);
    for (std::size_t i = 0; i < sizeof raw.word / sizeof raw.word[0]; ++i) raw.word[i] = from[i];
    return __builtin_bit_cast(T, raw);
}
template <class T>
UCD_GPU_FUNCTION void store(uintptr_t address, T value) {
    using Raw = RawWords<T>;
    const Raw raw = __builtin_bit_cast(Raw, value);
    auto *to = reinterpret_cast<UCD_ZE_GLOBAL typename Raw::Word *>(address);
    for (std::size_t i = 0; i < sizeof raw.word / sizeof raw.word[0]; ++i) to[i] = raw.word[i];
}
// Member by member: the driver's compiler takes four numbers apart into the words of a union, but
// keeps a vector in memory.
template <>
UCD_GPU_FUNCTION Quad load<Quad>(uintptr_t address) {
    const RawQuad raw = *reinterpret_cast<const UCD_ZE_GLOBAL RawQuad *>(address);
    return {raw.x, raw.y, raw.z, raw.w};
}
template <>
UCD_GPU_FUNCTION void store<Quad>(uintptr_t address, Quad value) {
    *reinterpret_cast<UCD_ZE_GLOBAL RawQuad *>(address) = {value.x, value.y, value.z, value.w};
}

#undef UCD_ZE_GLOBAL

// Parameters as few large members: the driver's compiler takes each one apart.
template <std::size_t bytes>
struct RawParams {
    typedef uint64_t __attribute__((may_alias)) Word;
    static_assert(bytes % sizeof(Word) == 0);
    Word word[bytes / sizeof(Word)];
};
// By each thread: all write the same.
template <std::size_t bytes>
UCD_GPU_FUNCTION void copy_for_block(const RawParams<bytes> &from, RawParams<bytes> &to) {
#pragma unroll
    for (std::size_t i = 0; i < bytes / sizeof from.word[0]; ++i) to.word[i] = from.word[i];
    UCD_GPU_BARRIER();
}

// From memory that does not change while kernels run.
template <class T>
UCD_GPU_FUNCTION T load_table(const T *address) {
    return load<T>(reinterpret_cast<uintptr_t>(address));
}

} // namespace ucd::UCD_GPU

#endif
