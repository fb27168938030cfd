// Conversions of elements from one layout to another.
#pragma once

#include "params/copy.h"

#ifdef __cplusplus
namespace ucd::gpu {
#endif

// For strided layouts. A word is one element, or as many consecutive ones as fill a vector on the
// side where they are wider.
typedef struct ConvertParams {
    uint64_t from, to;
    uint32_t words, tiles;
    uint32_t per_thread;
    uint32_t levels;
    uint32_t in_vectors;     // whether words are more than one element
    uint32_t aligned;        // whether elements may be accessed as a whole
    uint32_t saturate;       // whether the op is convert_sat
    uint32_t source, target; // the elements
    uint32_t unused;
    CopyLevel level[max_copy_levels]; // the outermost first
} ConvertParams;

// For layouts that are nests, but not strided on both sides. A unit is an element.
typedef struct ConvertPlacesParams {
    CopyPlacesParams places;
    uint32_t in_vectors, aligned, saturate; // see ConvertParams
    uint32_t unused;
} ConvertPlacesParams;

#ifdef __cplusplus
} // namespace ucd::gpu
#endif
