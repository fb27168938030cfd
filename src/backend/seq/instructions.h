// The kernels are compiled once for each instruction set, each time in a namespace of its own: two
// copies of one function for different machines must never be taken for the same.
#pragma once

#if !defined(UCD_SEQ_INSTRUCTIONS)
#define UCD_SEQ_INSTRUCTIONS baseline
#endif
