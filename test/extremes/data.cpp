// Much data.
#include "arena.hpp"
#include "extremes.hpp"

#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

using namespace ucdtest;

namespace extremes {
namespace {

constexpr std::uint64_t salt_typed = 1, salt_packed = 2, in_block = 15;

std::uintptr_t pack(const Arena &typed, ucd_type_t type, std::uintptr_t offset, void *out,
                    std::uintptr_t bytes) {
    std::uintptr_t moved = 0;
    must(ucd_pack(typed.address(), 1, type, offset, out, bytes, &moved, UCD_INFO__NULL,
                  UCD_OP__REPLACE) == UCD_SUCCESS,
         "ucd_pack");
    return moved;
}

} // namespace

// Blocks of 15 words, a word apart: offsets, displacements and lengths are all beyond 32 bits, and
// both sides of 8 GiB fit into 20.
void pack_much(std::uint64_t bytes, bool on_device) {
    const std::uint64_t blocks = bytes / (in_block * 8), words = in_block * blocks;
    const auto typed_of = [](std::uint64_t packed) {
        return packed / in_block * (in_block + 1) + packed % in_block;
    };
    Arena typed(blocks * (in_block + 1) * 8, on_device), packed(words * 8, on_device);
    const BuiltType type(recipes::vector(static_cast<std::intptr_t>(blocks), in_block, in_block + 1,
                                         recipes::leaf(UCD_TYPE__INT64_T)));
    typed.fill<std::uint64_t>([](std::uint64_t i) { return word(i, salt_typed); });
    must(pack(typed, type.get(), 0, packed.address(), words * 8) == words * 8,
         "the bytes of a pack");
    packed.check<std::uint64_t>("packed",
                                [&](std::uint64_t i) { return word(typed_of(i), salt_typed); });
    // Parts from far behind: neither begins nor ends with a word.
    for (const std::uint64_t part : {1, 7, 15}) {
        const std::uint64_t offset = words * 8 / 16 * part + 3, length = 100'001;
        Arena piece(length, on_device);
        must(pack(typed, type.get(), offset, piece.address(), length) ==
                 std::min(length, words * 8 - offset),
             "the bytes of a part");
        piece.check<std::uint8_t>("a part", [&](std::uint64_t i) {
            const std::uint64_t at = offset + i;
            return static_cast<std::uint8_t>(
                at < words * 8 ? word(typed_of(at / 8), salt_typed) >> 8 * (at % 8) : 0);
        });
    }
    packed.fill<std::uint64_t>([](std::uint64_t i) { return word(i, salt_packed); });
    must(unpack_now(packed.address(), words * 8, typed.address(), 1, type.get(), 0) == words * 8,
         "ucd_unpack");
    typed.check<std::uint64_t>("typed", [](std::uint64_t i) {
        const std::uint64_t block = i / (in_block + 1), within = i % (in_block + 1);
        return within == in_block ? word(i, salt_typed)
                                  : word(block * in_block + within, salt_packed);
    });
    std::printf("packed and unpacked %llu bytes, spread over %llu\n",
                static_cast<unsigned long long>(words * 8),
                static_cast<unsigned long long>(blocks * (in_block + 1) * 8));
}

// Every other byte.
void pack_many_elements(std::uint64_t elements, bool on_device) {
    Arena typed(2 * elements, on_device), packed(elements, on_device);
    const BuiltType type(recipes::vector(static_cast<std::intptr_t>(elements), 1, 2,
                                         recipes::leaf(UCD_TYPE__UINT8_T)));
    std::uintptr_t segments = 0;
    must(ucd_iov_len(1, type.get(), &segments) == UCD_SUCCESS && segments == elements,
         "ucd_iov_len");
    typed.fill<std::uint8_t>([](std::uint64_t i) { return byte(i, salt_typed); });
    must(pack(typed, type.get(), 0, packed.address(), elements) == elements, "the bytes of a pack");
    packed.check<std::uint8_t>("packed", [](std::uint64_t i) { return byte(2 * i, salt_typed); });
    must(unpack_now(packed.address(), elements, typed.address(), 1, type.get(), 0, UCD_INFO__NULL,
                    UCD_OP__SUM) == elements,
         "ucd_unpack with SUM");
    typed.check<std::uint8_t>("summed", [](std::uint64_t i) {
        const std::uint8_t old = byte(i, salt_typed);
        return static_cast<std::uint8_t>(i % 2 == 0 ? 2 * old : old);
    });
    std::printf("packed and summed %llu elements\n", static_cast<unsigned long long>(elements));
}

// Every other byte, a number, becomes two bytes that follow those of the one before.
void convert_many_elements(std::uint64_t elements, bool on_device) {
    Arena from(2 * elements, on_device), to(2 * elements, on_device);
    const auto n = static_cast<std::intptr_t>(elements);
    const BuiltType source(recipes::vector(n, 1, 2, recipes::leaf(UCD_TYPE__INT8_T))),
        target(recipes::contig(n, recipes::leaf(UCD_TYPE__BFLOAT16)));
    from.fill<std::uint8_t>([](std::uint64_t i) { return byte(i, salt_typed); });
    must(copy_now(from.address(), 1, source.get(), to.address(), 1, target.get(), UCD_INFO__NULL,
                  UCD_OP__CONVERT) == 2 * elements,
         "ucd_copy with CONVERT");
    // bfloat16 is the upper half of a float, and has all integers of 8 bits.
    to.check<std::uint16_t>("converted", [](std::uint64_t i) {
        const auto value = static_cast<float>(static_cast<std::int8_t>(byte(2 * i, salt_typed)));
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    });
    std::printf("converted %llu elements\n", static_cast<unsigned long long>(elements));
}

} // namespace extremes
