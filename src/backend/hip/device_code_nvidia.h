// Loads, stores and conversions of kernels on NVIDIA's devices. A part of vendor.h.
#pragma once

#define UCD_GPU_KERNEL(name, Params)                                                               \
    __global__ void __launch_bounds__(threads_per_block) name(const __grid_constant__ Params params)

namespace ucd::UCD_GPU {

// These use one hardware instruction each, which rounds to nearest, ties to even.
UCD_GPU_FUNCTION float float16_to_float(Float16 half) {
    return __half2float(__builtin_bit_cast(__half, half));
}
UCD_GPU_FUNCTION Float16 float_to_float16(float value) {
    return __builtin_bit_cast(Float16, __float2half_rn(value));
}

template <class T>
UCD_GPU_FUNCTION T load(uintptr_t address) {
    return *reinterpret_cast<const T *>(address);
}
template <class T>
UCD_GPU_FUNCTION void store(uintptr_t address, T value) {
    *reinterpret_cast<T *>(address) = value;
}
// Loads from memory that does not change while kernels run.
template <class T>
UCD_GPU_FUNCTION T load_table(const T *address) {
    return __ldg(address);
}

} // namespace ucd::UCD_GPU
