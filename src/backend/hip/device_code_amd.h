// Loads, stores and conversions of kernels on AMD's devices. A part of vendor.h.
#pragma once

#define UCD_GPU_KERNEL(name, Params)                                                               \
    UCD_GPU_FUNCTION void run_##name(const Params &params);                                        \
    __global__ void __launch_bounds__(threads_per_block) name(const Params) {                      \
        run_##name(parameters<Params>());                                                          \
    }                                                                                              \
    UCD_GPU_FUNCTION void run_##name(const Params &params)

#include "kernels/global_memory.h"

namespace ucd::UCD_GPU {

// The kernel's only parameter, at the address where the launch put it. If it were passed by value,
// the compiler would copy it to each thread's private memory whenever an index into it is not
// constant.
template <class Params>
UCD_GPU_FUNCTION const Params &parameters() {
    return *(const Params *)__builtin_amdgcn_kernarg_segment_ptr();
}

// These use one hardware instruction each, which rounds to nearest, ties to even.
UCD_GPU_FUNCTION float float16_to_float(Float16 half) {
    return static_cast<float>(__builtin_bit_cast(_Float16, half));
}
UCD_GPU_FUNCTION Float16 float_to_float16(float value) {
    return __builtin_bit_cast(Float16, static_cast<_Float16>(value));
}

// Loads from memory that does not change while kernels run.
template <class T>
UCD_GPU_FUNCTION T load_table(const T *address) {
    return load<T>(reinterpret_cast<uintptr_t>(address));
}

} // namespace ucd::UCD_GPU
