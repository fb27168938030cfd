// C++ and OpenCL C read all headers of this room, so each structure is plain: integers of fixed
// width, and arrays and structures of these; no member functions, no default values. Addresses are
// 64-bit integers, because OpenCL C does not allow pointers in a kernel's structures. The layout of
// the structures in memory is the same in both languages, since the kernels of all vendors read
// them.
#pragma once

#ifdef __cplusplus

#include "direction.h"

#include <cstdint>

#define UCD_GPU_CONSTANT(name, value) inline constexpr uint32_t name = value
#define UCD_GPU_SIZE(type, bytes) static_assert(sizeof(type) == bytes)

#else

typedef uchar uint8_t;
typedef uint uint32_t;
typedef int int32_t;
typedef ulong uint64_t;
typedef long int64_t;

// The contract's enumerations.
typedef uint8_t Direction, Element;

#define UCD_GPU_CONSTANT(name, value) enum { name = value }
#define UCD_GPU_SIZE(type, bytes) typedef char type##_has_the_size[sizeof(type) == bytes ? 1 : -1]

#endif

#ifdef __cplusplus
namespace ucd::gpu {
#endif

UCD_GPU_CONSTANT(threads_per_block, 256);
// The number of bytes of the packed side that one thread moves in one access.
UCD_GPU_CONSTANT(vector_bytes, 16);

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
