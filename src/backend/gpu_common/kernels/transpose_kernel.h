// The body of the kernels that transpose by tiles in shared memory.
#pragma once

#include "kernels/transpose.h"

namespace ucd::UCD_GPU {

inline constexpr unsigned lines_at_a_time = threads_per_block / tile_side;

// The threads of a block of the library's own kernels.
struct OwnBlock {
    UCD_GPU_FUNCTION static constexpr uint32_t threads() { return threads_per_block; }
    template <class Body>
    UCD_GPU_FUNCTION void each(Body body) const {
        UCD_GPU_FOR_EACH_THREAD(thread) {
            body(thread);
        }
    }
    UCD_GPU_FUNCTION void barrier() const { UCD_GPU_BARRIER(); }
};

template <Direction direction, unsigned width>
UCD_GPU_FUNCTION void run_transpose(const TransposeParams &p) {
    UCD_GPU_SHARED TileMemory<width> tile;
    for (uint32_t index = UCD_GPU_BLOCK; index < p.tiles; index += UCD_GPU_BLOCKS)
        transpose_tile<direction, width>(p, index, tile, OwnBlock());
}

} // namespace ucd::UCD_GPU
