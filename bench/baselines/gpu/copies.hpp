// Kernels that copy from one layout to another, each for one pair.
#pragma once

namespace bench::gpu::hand {

using CopyByHand = void (*)(char *from, char *to);

// In the null stream.
void copy_transposed_4096(char *from, char *to);   // a matrix of doubles to its transpose
void copy_box_to_box(char *from, char *to);        // 128^3 doubles of 512^3 to such of 256^3
void copy_small_box_to_box(char *from, char *to);  // 64^3 floats of 128^3 to such of 96^3
void copy_blocks_8_to_128(char *from, char *to);   // blocks of 8 of 512 to 128 of 512 bytes
void copy_blocks_128_to_128(char *from, char *to); // 128 of 512 to 128 of 1024

// CCCL's copy of two of them; null if this CCCL copies no mdspans.
CopyByHand cub_box_to_box();
CopyByHand cub_small_box_to_box();

inline constexpr long copied_blocks_bytes = 16L << 20; // of the last two

} // namespace bench::gpu::hand
