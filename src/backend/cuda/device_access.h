// High products, loads and stores of kernels on NVIDIA's devices.
#pragma once

namespace ucd::UCD_GPU {

UCD_GPU_FUNCTION uint32_t high_product(uint32_t a, uint32_t b) {
    return __umulhi(a, b);
}
UCD_GPU_FUNCTION uint64_t high_product(uint64_t a, uint64_t b) {
    return __umul64hi(a, b);
}

template <class T>
UCD_GPU_FUNCTION T load(uintptr_t address) {
    return *reinterpret_cast<const T *>(address);
}
template <class T>
UCD_GPU_FUNCTION void store(uintptr_t address, T value) {
    *reinterpret_cast<T *>(address) = value;
}

} // namespace ucd::UCD_GPU
