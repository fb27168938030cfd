// Kernels written for one layout each, by someone who knows it at compile time.
#pragma once

#include "baselines/hand.hpp"
#include "shapes/shapes.hpp"

#include <cstdint>
#include <span>

namespace bench::gpu {

using shapes::Level;
using shapes::mib;
using shapes::Nest;

inline constexpr Nest<1> vector_128_of_512{128, {{64 * mib / 128, 512}}};
inline constexpr Nest<1> vector_128_of_512_large{128, {{1024 * mib / 128, 512}}};
inline constexpr Nest<1> vector_8_of_512{8, {{64 * mib / 8, 512}}};
inline constexpr Nest<1> vector_4_of_8{4, {{64 * mib / 4, 8}}};
inline constexpr Nest<1> vector_2_of_8{2, {{64 * mib / 2, 8}}};
inline constexpr Nest<3> every_second{4, {{128, 256 * 2048}, {128, 2048}, {128, 8}}}; // of 256^3
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
inline constexpr std::int64_t records_of_16_mib = records / 4 / 16 * 16;
inline constexpr std::int64_t triangle_side = 4096, small_triangle_side = 2048,
                              transpose_side = 4096;

namespace hand {
std::span<const HandMove> vector_128_of_512();
std::span<const HandMove> vector_128_of_512_large();
std::span<const HandMove> vector_8_of_512();
std::span<const HandMove> vector_8_of_512_small();
std::span<const HandMove> vector_4_of_8();
std::span<const HandMove> vector_2_of_8();
std::span<const HandMove> every_second();
std::span<const HandMove> slab_xz();
std::span<const HandMove> slab_xz_of_32();
std::span<const HandMove> slab_yz();
std::span<const HandMove> cube();
std::span<const HandMove> hypercube();
std::span<const HandMove> nest_3();
std::span<const HandMove> nest_5();
// The list has the displacement of each unit, in units; no lengths.
std::span<const HandMove> singles();
std::span<const HandMove> singles_small(); // 1 MiB
std::span<const HandMove> lines_of_128();
std::span<const HandMove> records();
std::span<const HandMove> records_of_16_mib();
std::span<const HandMove> triangle();
std::span<const HandMove> small_triangle();
std::span<const HandMove> transpose();
} // namespace hand

} // namespace bench::gpu
