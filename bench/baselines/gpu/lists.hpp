// Kernels for lists of pieces of one size, which is known when they are compiled.
#pragma once

#include "vendor.hpp"

#include <cstdint>

namespace bench::gpu::hand {

// Packs `entries` pieces in the null stream. Piece i starts at `typed + indices[i] * piece`;
// `indices` is in device memory. `piece` is one of 8, 512, 4096, 16384.
void pack_list(int piece, const std::int32_t *indices, unsigned entries, const char *typed,
               char *packed);

} // namespace bench::gpu::hand
