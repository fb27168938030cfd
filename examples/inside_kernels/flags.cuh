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

// Counts a block that has stored for another device; one thread of it calls this, after
// __syncthreads(). Returns the number of the round, from 1 on, and in *last whether all blocks of
// the kernel have been counted: then all that they have stored may be announced by a flag.
__device__ inline unsigned count_block(unsigned long long *counted, bool *last) {
    __threadfence_system();
    const unsigned long long number = atomicAdd(counted, 1ull);
    *last = (number + 1) % gridDim.x == 0;
    if (*last) __threadfence_system(); // what the other blocks have stored comes before the flag
    return static_cast<unsigned>(number / gridDim.x) + 1;
}
