// Flags in memory that another device reads.
#pragma once

// Call after all threads of the block have stored, and after __syncthreads().
__device__ inline void raise_flag(unsigned *flag, unsigned value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ inline void wait_for_flag(const unsigned *flag, unsigned value) {
    unsigned seen;
    do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } while (static_cast<int>(seen - value) < 0);
}
