// Kernels as C++ for threads of the CPU: for the host vendor, and for others whose headers bring a
// runtime only. The vendor's header comes first and says UCD_GPU.
#pragma once

#include "convert.h"

#include <cstddef>
#include <cstdint>

namespace ucd::hostgpu {

// A kernel runs a block at a time, on the thread of its stream. What a block's threads do between
// two barriers is a loop over them.
struct Grid {
    uint32_t block = 0, blocks = 0;
};
extern thread_local Grid grid;

struct Kernel {
    const char *name;
    void (*run)(const void *params);
    std::size_t param_bytes;
};

// Where a device's thread finds the bytes of an address; throws for what is out of its reach.
void *device_memory(uintptr_t address, std::size_t bytes);

// Throws for an address that is no multiple of the size, as a GPU would.
void require_aligned(uintptr_t address, std::size_t bytes);

// By the block that runs.
extern thread_local std::size_t stored_bytes;

} // namespace ucd::hostgpu

namespace ucd::UCD_GPU {

inline uint32_t high_product(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
}
inline uint64_t high_product(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 Product;
    return static_cast<uint64_t>((Product{a} * b) >> 64);
}

inline float float16_to_float(Float16 half) {
    return to_float(half);
}
inline Float16 float_to_float16(float value) {
    return from_float(Float16{}, value);
}

// As NVIDIA's instructions: numbers that are too large become the largest one, and NaNs lose their
// sign.
#define UCD_GPU_CONVERTS_FLOAT8
template <class To>
uint32_t round_to_float8(To, const float *in) {
    uint32_t four = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const float number = in[i] == in[i] ? in[i] : __builtin_fabsf(in[i]);
        four |= uint32_t{convert<To>(number, limit_of<To>(true)).bits} << 8 * i;
    }
    return four;
}
template <class From>
uint32_t float8_to_float16(From, uint32_t two) {
    uint32_t halves = 0;
    for (unsigned i = 0; i < 2; ++i) {
        const From number = {static_cast<uint8_t>(two >> 8 * i)};
        const uint16_t bits = convert<Float16>(number, limit_of<Float16>(false)).bits;
        const bool is_nan = (bits & 0x7fff) > 0x7c00;
        halves |= uint32_t{is_nan ? uint16_t{0x7fff} : bits} << 16 * i;
    }
    return halves;
}
inline float larger_magnitude(float a, float b) {
    const float x = __builtin_fabsf(a), y = __builtin_fabsf(b);
    return x > y || x != x ? x : y;
}

template <class T>
T load(uintptr_t address) {
    hostgpu::require_aligned(address, sizeof(T));
    T value;
    __builtin_memcpy(&value, hostgpu::device_memory(address, sizeof(T)), sizeof(T));
    return value;
}
// Not for the thread sanitizer: kernels may write the same bytes to one place at once, as calls
// that are not ordered do in tests.
template <class T>
__attribute__((no_sanitize("thread"))) void store(uintptr_t address, T value) {
    hostgpu::require_aligned(address, sizeof(T));
    hostgpu::stored_bytes += sizeof(T);
    __builtin_memcpy(hostgpu::device_memory(address, sizeof(T)), &value, sizeof(T));
}
template <class T>
T load_table(const T *address) {
    return load<T>(reinterpret_cast<uintptr_t>(address));
}

} // namespace ucd::UCD_GPU

#define UCD_GPU_FUNCTION inline
#define UCD_GPU_KERNEL(name, Params)                                                               \
    static void run_##name(const Params &params);                                                  \
    static const hostgpu::Kernel name = {                                                          \
        #name, [](const void *params) { run_##name(*static_cast<const Params *>(params)); },       \
        sizeof(Params)};                                                                           \
    static void run_##name(const Params &params)
#define UCD_GPU_KERNEL_HANDLE(name) static_cast<const void *>(&name)
#define UCD_GPU_BLOCK ::ucd::hostgpu::grid.block
#define UCD_GPU_BLOCKS ::ucd::hostgpu::grid.blocks
#define UCD_GPU_FOR_EACH_THREAD(thread)                                                            \
    for (uint32_t thread = 0; thread < threads_per_block; ++thread)
#define UCD_GPU_SHARED
#define UCD_GPU_BARRIER()
