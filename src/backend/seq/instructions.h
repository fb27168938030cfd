// The kernels are compiled once for each instruction set, each time in a namespace of its own: two
// copies of one function for different machines must never be taken for the same.
#pragma once

// What the compiler takes by default: on AArch64 every processor has NEON.
#if !defined(UCD_SEQ_INSTRUCTIONS)
#if defined(__AARCH64EL__) && defined(__ARM_NEON)
#define UCD_SEQ_INSTRUCTIONS neon
#define UCD_SEQ_HAS_NEON 1
#else
#define UCD_SEQ_INSTRUCTIONS baseline
#endif
#endif
