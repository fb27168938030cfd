// How kernels touch memory: words of 1 to 16 bytes on the typed side, vectors of 16 on the packed
// one; entries of lists.
#pragma once

#include "params/types.h"
#include "tuning.h"
#include "vendor.h"

#include <cstdint>

// A kernel that finds parts of its parameters by an index. A vendor may have another way to give it
// these.
#if !defined(UCD_GPU_INDEXING_KERNEL)
#define UCD_GPU_INDEXING_KERNEL UCD_GPU_KERNEL
#endif

namespace ucd::UCD_GPU {

using namespace gpu;

// As scalars: device code may not read members of an object of the host.
inline constexpr uint32_t warp_lanes = tuning.warp_lanes;
inline constexpr uint32_t tile_side = tuning.tile_side;

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

// 16 bytes of the packed stream as words. Indexed by constants only, so that it stays in registers.
template <unsigned width>
union Vector {
    static constexpr unsigned words = vector_bytes / width;
    Quad whole;
    Word<width> word[words];
};

// A list at an address of the parameters. Entries are then found by the arithmetic of pointers,
// which leaves constant distances to the instructions that load.
template <class T>
UCD_GPU_FUNCTION const T *list_pointer(uint64_t address) {
    return reinterpret_cast<const T *>(address);
}

} // namespace ucd::UCD_GPU
