// The kernels are compiled once for each instruction set. Each set has its own namespace, because
// the linker must not merge copies of a function that are compiled for different sets.
#pragma once

// The compiler's default instruction set. On AArch64, it includes NEON.
#if !defined(UCD_SEQ_INSTRUCTIONS)
#define UCD_SEQ_IS_DEFAULT 1
#if defined(__AARCH64EL__) && defined(__ARM_NEON)
#define UCD_SEQ_INSTRUCTIONS neon
#define UCD_SEQ_HAS_NEON 1
#else
#define UCD_SEQ_INSTRUCTIONS baseline
#endif
#endif
