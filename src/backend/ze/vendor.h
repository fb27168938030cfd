// Maps gpu_common's names for a runtime to Level Zero. Nothing else in gpu_common refers to Level
// Zero. Level Zero has no such runtime, so this folder implements runtime_calls.h with command
// lists, events and modules. clang in its HIP mode compiles kernels, since it makes SPIR-V from
// C++.
#pragma once

// Leaves out the kernels that convert elements of nests that are not strided, 1.3 MB of SPIR-V.
// Such conversions are done in several steps.
#define UCD_GPU_WITHOUT_CONVERT_PLACES

#include <cstddef>
#include <cstdint>

// The namespace, within ucd, of all code that is compiled for this vendor.
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

// On the host, kernels are only names; their bodies are not compiled.
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
// Functions with external linkage would be kept for other modules.
#define UCD_GPU_FUNCTION __attribute__((device, internal_linkage)) inline
#define UCD_GPU_INLINED_FUNCTION __attribute__((always_inline)) UCD_GPU_FUNCTION
#define UCD_GPU_KERNEL(name, Params)                                                               \
    extern "C" __attribute__((global)) void name(const Params params)
// A kernel's parameters are in registers. For an indexed access, each thread would copy them to
// memory; this makes one copy for each block instead.
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
// Scopes of execution and memory: the work group. Semantics: acquire and release, for work-group
// memory.
#define UCD_GPU_BARRIER() __spirv_ControlBarrier(2, 2, 0x108)

// llvm-spirv translates functions of these names to SPIR-V instructions.
UCD_ZE_DEVICE std::size_t __spirv_BuiltInWorkgroupId(int dimension);
UCD_ZE_DEVICE std::size_t __spirv_BuiltInNumWorkgroups(int dimension);
UCD_ZE_DEVICE std::size_t __spirv_BuiltInLocalInvocationId(int dimension);
UCD_ZE_DEVICE void __spirv_ControlBarrier(unsigned execution, unsigned memory, unsigned semantics)
    __attribute__((convergent));
UCD_ZE_DEVICE unsigned __spirv_ocl_u_mul_hi(unsigned a, unsigned b);
UCD_ZE_DEVICE unsigned long __spirv_ocl_u_mul_hi(unsigned long a, unsigned long b);

#define UCD_ELEMENT_FUNCTION UCD_GPU_FUNCTION
#include "half.h"

namespace ucd::UCD_GPU {

UCD_GPU_FUNCTION uint32_t high_product(uint32_t a, uint32_t b) {
    return __spirv_ocl_u_mul_hi(a, b);
}
UCD_GPU_FUNCTION uint64_t high_product(uint64_t a, uint64_t b) {
    return __spirv_ocl_u_mul_hi(a, b);
}

// Computed with integers, so that no device needs to support float16.
UCD_GPU_FUNCTION float float16_to_float(Float16 half) {
    return to_float(half);
}
UCD_GPU_FUNCTION Float16 float_to_float16(float value) {
    return from_float(Float16{}, value);
}

} // namespace ucd::UCD_GPU

#include "kernels/global_memory.h"

namespace ucd::UCD_GPU {

// Copies member by member, because the driver's compiler keeps four scalars of a union in
// registers, but a vector in memory.
template <>
UCD_GPU_FUNCTION Quad load<Quad>(uintptr_t address) {
    const RawQuad raw = *reinterpret_cast<InGlobal<const RawQuad> *>(address);
    return {raw.x, raw.y, raw.z, raw.w};
}
template <>
UCD_GPU_FUNCTION void store<Quad>(uintptr_t address, Quad value) {
    *reinterpret_cast<InGlobal<RawQuad> *>(address) = {value.x, value.y, value.z, value.w};
}

// The parameters as few large members, because the driver's compiler passes each member separately.
template <std::size_t bytes>
struct RawParams {
    typedef uint64_t __attribute__((may_alias)) Word;
    static_assert(bytes % sizeof(Word) == 0);
    Word word[bytes / sizeof(Word)];
};
// Every thread copies everything; all write the same values.
template <std::size_t bytes>
UCD_GPU_FUNCTION void copy_for_block(const RawParams<bytes> &from, RawParams<bytes> &to) {
#pragma unroll
    for (std::size_t i = 0; i < bytes / sizeof from.word[0]; ++i) to.word[i] = from.word[i];
    UCD_GPU_BARRIER();
}

// Loads from memory that does not change while kernels run.
template <class T>
UCD_GPU_FUNCTION T load_table(const T *address) {
    return load<T>(reinterpret_cast<uintptr_t>(address));
}

} // namespace ucd::UCD_GPU

#endif
