// Kernels written for one layout each, by someone who knows it at compile time.
#pragma once

#include "shapes.hpp"

#include <cstdint>
#include <span>

namespace bench::gpu {

using shapes::Level;
using shapes::mib;
using shapes::Nest;

// Starts the kernel in the null stream.
struct HandKernel {
    const char *way;
    void (*pack)(char *laid_out, char *packed, const std::int32_t *list);
    void (*unpack)(char *laid_out, char *packed, const std::int32_t *list);
};

inline constexpr Nest<1> vector_128_of_512{128, {{64 * mib / 128, 512}}};
inline constexpr Nest<1> vector_128_of_512_large{128, {{1024 * mib / 128, 512}}};
inline constexpr Nest<1> vector_8_of_512{8, {{64 * mib / 8, 512}}};
inline constexpr Nest<1> vector_4_of_8{4, {{64 * mib / 4, 8}}};
inline constexpr Nest<1> vector_2_of_8{2, {{64 * mib / 2, 8}}};
inline constexpr Nest<1> vector_8_of_512_small{8, {{1024 / 8, 512}}};
inline constexpr std::int64_t side = 512, plane = side * side * 8, line = side * 8;
inline constexpr Nest<1> slab_xz{8 * line, {{side, plane}}};
inline constexpr Nest<1> slab_xz_of_32{32 * line, {{side, plane}}};
inline constexpr Nest<1> slab_yz{64, {{side * side, line}}};
inline constexpr Nest<2> cube{128 * 8, {{128, plane}, {128, line}}};
inline constexpr Nest<3> hypercube = shapes::hypercube(32);
inline constexpr Nest<3> nest_3{8, {{512, 411648}, {128, 3200}, {128, 24}}};
inline constexpr Nest<5> nest_5{8,
                                {{16, 13142080}, {32, 410688}, {16, 25664}, {32, 800}, {32, 24}}};
inline constexpr std::int64_t singles = 64 * mib / 8, lines_of_128 = 64 * mib / 128;
inline constexpr std::int64_t records = 64 * mib / 17 / 16 * 16, record_fields = 17,
                              record_extent = 24;
inline constexpr std::int64_t triangle_side = 4096, transpose_side = 4096;

namespace hand {
std::span<const HandKernel> vector_128_of_512();
std::span<const HandKernel> vector_128_of_512_large();
std::span<const HandKernel> vector_8_of_512();
std::span<const HandKernel> vector_8_of_512_small();
std::span<const HandKernel> vector_4_of_8();
std::span<const HandKernel> vector_2_of_8();
std::span<const HandKernel> slab_xz();
std::span<const HandKernel> slab_xz_of_32();
std::span<const HandKernel> slab_yz();
std::span<const HandKernel> cube();
std::span<const HandKernel> hypercube();
std::span<const HandKernel> nest_3();
std::span<const HandKernel> nest_5();
// The list has the displacement of each unit, in units.
std::span<const HandKernel> singles();
std::span<const HandKernel> singles_small(); // 1 MiB
std::span<const HandKernel> lines_of_128();
std::span<const HandKernel> records();
std::span<const HandKernel> triangle();
std::span<const HandKernel> transpose();
} // namespace hand

} // namespace bench::gpu
