// Unpacking of odd blocks, such as structs with a char at the end: in the stream their members lie
// anywhere, but in memory they are aligned. So each thread makes one aligned store, whose bytes it
// picks from the stream. (Packing has no such need: neighbouring threads load from the same lines,
// and stores are whole vectors.)
#pragma once

#include "params/nest.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// The widest store, and how origins are aligned.
UCD_GPU_CONSTANT(max_store_bytes, 8);

typedef struct AlignedStore {
    int32_t displacement; // from the period's origin
    uint32_t position;    // in the period's stream; times 16, plus the bytes
} AlignedStore;

typedef struct AlignedStoresParams {
    uint64_t list; // the address of a period's AlignedStores
    uint64_t typed;
    uint64_t packed;     // where stream byte 0 would be
    uint64_t begin, end; // the range of the stream
    uint32_t first;      // the period that the range starts in
    uint32_t count;      // stores of all periods that the range touches
    Divisor stores;      // of a period
    uint32_t period;     // bytes of the stream
    uint32_t levels;
    NestLevel level[max_levels]; // strided, around the period; `each` counts periods, steps 8 bytes
} AlignedStoresParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
