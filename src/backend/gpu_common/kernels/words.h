// Memory accesses of kernels: words of 1 to 16 bytes on the typed side, vectors of 16 bytes on the
// packed side, and entries of lists.
#pragma once

#include "params/types.h"
#include "tuning.h"
#include "vendor.h"

#include <cstdint>

// Defines a kernel that indexes into its parameters. Vendors may pass the parameters of such
// kernels differently.
#if !defined(UCD_GPU_INDEXING_KERNEL)
#define UCD_GPU_INDEXING_KERNEL UCD_GPU_KERNEL
#endif

// Defines a function that is inlined even where the vendor's compiler does not inline by itself.
#if !defined(UCD_GPU_INLINED_FUNCTION)
#define UCD_GPU_INLINED_FUNCTION UCD_GPU_FUNCTION
#endif

namespace ucd::UCD_GPU {

using namespace gpu;

// Scalars, because device code may not read members of a host object.
inline constexpr uint32_t warp_lanes = tuning.warp_lanes;

template <unsigned width>
struct WordOf;
template <>
struct WordOf<1> {
    using type = uint8_t;
};
template <>
struct WordOf<2> {
    using type = uint16_t;
};
template <>
struct WordOf<4> {
    using type = uint32_t;
};
template <>
struct WordOf<8> {
    using type = uint64_t;
};
template <>
struct WordOf<16> {
    using type = Quad;
};
template <unsigned width>
using Word = typename WordOf<width>::type;

// 16 bytes of the packed stream as words. Indexed only by constants, so that it stays in registers.
template <unsigned width>
union Vector {
    static constexpr unsigned words = vector_bytes / width;
    Quad whole;
    Word<width> word[words];
};

// Elements that are loaded or stored by one access.
template <class T, unsigned count>
union WordOfElements {
    Word<count * sizeof(T)> word;
    T element[count];
};

// Four bytes of two words, from one of the first word's on.
UCD_GPU_FUNCTION uint32_t shifted(uint32_t first, uint32_t second, uint32_t byte) {
    return static_cast<uint32_t>((uint64_t{second} << 32 | first) >> (8 * byte));
}

// A list whose address is in the parameters. Pointer arithmetic lets the compiler put constant
// distances into load instructions.
template <class T>
UCD_GPU_FUNCTION const T *list_pointer(uint64_t address) {
    return reinterpret_cast<const T *>(address);
}

} // namespace ucd::UCD_GPU
