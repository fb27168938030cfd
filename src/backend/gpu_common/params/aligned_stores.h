// Aligned stores unpack odd blocks, such as structs with a char at the end: members have any
// alignment in the stream, but are aligned in memory. Each thread therefore makes one aligned
// store, and picks its bytes from the stream. (Packing does not need this: neighbouring threads
// load from the same cache lines, and their stores are whole vectors.)
#pragma once

#include "params/nest.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// The widest store in bytes, which is also the alignment of the origins.
UCD_GPU_CONSTANT(max_store_bytes, 8);

typedef struct AlignedStore {
    int32_t displacement; // relative to the period's origin
    uint32_t position;    // (offset in the period's stream) * 16 + number of bytes
} AlignedStore;

// The stores that a range of the stream needs.
typedef struct AlignedStoresRange {
    uint64_t list;       // the address of a period's AlignedStores
    uint64_t packed;     // the address that stream byte 0 would have
    uint64_t begin, end; // the range of the stream
    uint32_t first;      // the period in which the range starts
    uint32_t count;      // number of stores in all periods that the range touches
    Divisor stores;      // number of stores of a period
    uint32_t unused;
} AlignedStoresRange;

typedef struct AlignedStoresParams {
    AlignedStoresRange range;
    uint64_t typed;
    uint32_t period; // packed bytes of a period
    uint32_t levels;
    NestLevel level[max_levels]; // around the period; `each` in periods, strides in 8 bytes
} AlignedStoresParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
