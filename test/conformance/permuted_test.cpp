// Arrays whose packed order is another than that in memory: permutations of up to eight
// dimensions, whole and in parts, and copies from one order to another, against an enumeration of
// the entries.
#include "support/catch.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/move_now.hpp"
#include "support/random/permuted_array.hpp"
#include "support/random/random_cases.hpp"

#include <ucd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace permuted_test {

using namespace ucdtest;

namespace {

// The bytes of an entry.
std::intptr_t any_block(Rng &rng) {
    constexpr std::intptr_t blocks[] = {1, 2, 3, 4, 8, 12, 16, 24, 40};
    return blocks[rng.below(std::size(blocks))];
}

} // namespace

TEST_CASE("arrays in any order of their dimensions") {
    run_cases("permuted", 3000, [](Case &one) {
        Rng &rng = one.rng();
        const PermutedArray p(rng, rng.chance(10) ? 60000 : 2000, any_block(rng));
        const bool by_count = rng.chance(40);
        ucd_type_t type = p.build(UCD_TYPE__BYTE, by_count);
        const std::uintptr_t count = p.count(by_count);
        const auto block = static_cast<std::size_t>(p.block);
        std::vector<unsigned char> memory(p.span), stream(p.entries * block);
        for (unsigned char &b : memory) b = static_cast<unsigned char>(rng.bits());
        for (std::size_t i = 0; i < p.entries; ++i)
            std::memcpy(stream.data() + i * block, memory.data() + p.offset_of(i), block);

        for (int part = 0; part < 3; ++part) {
            const std::size_t from = part == 0 ? 0 : rng.below(stream.size());
            const std::size_t bytes =
                part == 0 ? stream.size() : rng.below(stream.size() - from + 1);
            const std::size_t shift = rng.below(9);
            std::vector<unsigned char> packed(bytes + 32, 0xee);
            std::uintptr_t actual = 0;
            REQUIRE(ucd_pack(memory.data(), count, type, from, packed.data() + shift, bytes,
                             &actual, nullptr, UCD_OP__REPLACE) == UCD_SUCCESS);
            bool good = actual == bytes &&
                        std::equal(packed.begin() + static_cast<std::ptrdiff_t>(shift),
                                   packed.begin() + static_cast<std::ptrdiff_t>(shift + bytes),
                                   stream.begin() + static_cast<std::ptrdiff_t>(from));
            for (std::size_t i = 0; i < packed.size(); ++i)
                good = good && (packed[i] == 0xee || (i >= shift && i < shift + bytes));
            if (!good) one.fail("pack of ", bytes, " bytes from ", from, " is wrong");

            std::vector<unsigned char> target(p.span, 0xdd), expected = target;
            for (std::size_t i = from; i < from + bytes; ++i)
                expected[p.offset_of(i / block) + i % block] = stream[i];
            REQUIRE(ucd_unpack(packed.data() + shift, bytes, target.data(), count, type, from,
                               &actual, nullptr, UCD_OP__REPLACE) == UCD_SUCCESS);
            if (actual != bytes || target != expected)
                one.fail("unpack of ", bytes, " bytes to ", from, " is wrong");
        }
        ucd_free(&type);
    });
}

TEST_CASE("copies between arrays in any order of their dimensions") {
    run_cases("permuted copies", 1500, [](Case &one) {
        Rng &rng = one.rng();
        const PermutedArray from(rng, rng.chance(20) ? 60000 : 8000, any_block(rng)),
            to(rng, from, from.block);
        const bool by_count = rng.chance(40);
        ucd_type_t from_type = from.build(UCD_TYPE__BYTE, by_count),
                   to_type = to.build(UCD_TYPE__BYTE, by_count);
        const std::uintptr_t count = from.count(by_count);
        const auto block = static_cast<std::size_t>(from.block);
        std::vector<unsigned char> source(from.span), target(to.span + 64, 0xdd);
        for (unsigned char &b : source) b = static_cast<unsigned char>(rng.bits());
        std::vector<unsigned char> expected = target;
        const std::size_t shift = rng.below(64), total = from.entries * block;
        // All bytes, or a range of them.
        const bool is_part = rng.chance(40);
        const std::size_t first = is_part ? rng.below(total) : 0;
        const std::size_t bytes = is_part ? 1 + rng.below(total - first) : total;
        for (std::size_t i = first, part; i < first + bytes; i += part) {
            part = std::min(block - i % block, first + bytes - i); // of an entry
            std::memcpy(expected.data() + shift + to.offset_of(i / block) + i % block,
                        source.data() + from.offset_of(i / block) + i % block, part);
        }
        const ucd_move_t move = part_move(source.data(), count, from_type, first,
                                          target.data() + shift, count, to_type, first, bytes);
        std::uintptr_t actual = 0;
        REQUIRE(call_move(rng, move, &actual, nullptr, UCD_OP__REPLACE, true) == UCD_SUCCESS);
        if (actual != bytes || target != expected)
            one.fail("copy of ", bytes, " bytes from ", first, " is wrong");
        ucd_free(&from_type);
        ucd_free(&to_type);
    });
}

// A part may have only the loops that are lists, and equally long lines on neither side.
TEST_CASE("parts of lists in a permuted array") {
    const std::vector<std::intptr_t> outer{-80, 60, 140, 340, 820, 940, 980, 1020, 1180};
    const std::vector<std::intptr_t> inner{624, 752};
    constexpr std::intptr_t count = 2, extent = 22, rows = 7, stride = 27, block = 20;
    ucd_type_t types[5];
    REQUIRE(ucd_create_contig(block, UCD_TYPE__BYTE, nullptr, &types[0]) == UCD_SUCCESS);
    REQUIRE(ucd_create_hindexed_block(2, 1, inner.data(), types[0], nullptr, &types[1]) ==
            UCD_SUCCESS);
    REQUIRE(ucd_create_hindexed_block(9, 1, outer.data(), types[1], nullptr, &types[2]) ==
            UCD_SUCCESS);
    REQUIRE(ucd_create_hvector(rows, 1, stride, types[2], nullptr, &types[3]) == UCD_SUCCESS);
    REQUIRE(ucd_create_resized(types[3], 0, extent, nullptr, &types[4]) == UCD_SUCCESS);
    std::vector<unsigned char> memory(2400), stream;
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<unsigned char>(i * 37 + i / 256 * 11);
    for (std::intptr_t c = 0; c < count; ++c)
        for (std::intptr_t r = 0; r < rows; ++r)
            for (const std::intptr_t o : outer)
                for (const std::intptr_t i : inner)
                    for (std::intptr_t b = 0; b < block; ++b)
                        stream.push_back(
                            memory[static_cast<std::size_t>(c * extent + r * stride + o + i + b)]);
    for (std::size_t from = 0; from < stream.size(); from += 13)
        for (std::size_t bytes = 1; bytes <= stream.size() - from; bytes += 101) {
            std::vector<unsigned char> packed(bytes);
            pack_now(memory.data(), count, types[4], from, packed.data(), bytes);
            if (!std::equal(packed.begin(), packed.end(),
                            stream.begin() + static_cast<std::ptrdiff_t>(from)))
                FAIL("pack of " << bytes << " bytes from " << from << " is wrong");
        }
    for (int k = 5; k-- > 0;) REQUIRE(ucd_free(&types[k]) == UCD_SUCCESS);
}

// More than the ways for arrays know: the last in memory is the first in the stream.
TEST_CASE("arrays of twelve dimensions in reverse order") {
    constexpr std::size_t rank = 12, entries = std::size_t{1} << rank, block = 4;
    std::vector<std::intptr_t> shape(rank, 2), strides;
    for (std::size_t d = 0; d < rank; ++d)
        strides.push_back(static_cast<std::intptr_t>(block << d));
    ucd_type_t entry = UCD_TYPE__NULL, array = UCD_TYPE__NULL;
    REQUIRE(ucd_create_contig(block, UCD_TYPE__BYTE, nullptr, &entry) == UCD_SUCCESS);
    REQUIRE(ucd_create_ndarray(rank, shape.data(), strides.data(), entry, nullptr, &array) ==
            UCD_SUCCESS);
    std::vector<unsigned char> memory(entries * block), expected(memory.size());
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<unsigned char>(i * 37 + i / 256 * 11);
    for (std::size_t e = 0; e < entries; ++e) {
        std::size_t place = 0;
        for (std::size_t d = 0; d < rank; ++d) place |= (e >> d & 1) << (rank - 1 - d);
        std::memcpy(expected.data() + e * block, memory.data() + place * block, block);
    }
    for (const std::size_t from : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
        std::vector<unsigned char> packed(memory.size() - from), target(memory.size(), 0xdd);
        pack_now(memory.data(), 1, array, from, packed.data(), packed.size());
        CHECK(std::equal(packed.begin(), packed.end(),
                         expected.begin() + static_cast<std::ptrdiff_t>(from)));
        unpack_now(packed.data(), packed.size(), target.data(), 1, array, from);
        if (from == 0) CHECK((target == memory));
    }
    REQUIRE(ucd_free(&array) == UCD_SUCCESS);
    REQUIRE(ucd_free(&entry) == UCD_SUCCESS);
}

TEST_CASE("many small matrices whose lines are adjacent") {
    constexpr std::size_t sizes[][3] = {
        {4, 4, 4}, {4, 4, 64}, {2, 3, 64}, {2, 64, 3}, {1, 2, 3000}};
    for (const auto &[block, rows, columns] : sizes) {
        constexpr std::size_t count = 300;
        const std::size_t entries = rows * columns, bytes = entries * block;
        const auto width = static_cast<std::intptr_t>(block);
        const std::intptr_t shape[] = {static_cast<std::intptr_t>(columns),
                                       static_cast<std::intptr_t>(rows)};
        const std::intptr_t strides[] = {width, width * shape[0]};
        ucd_type_t entry = UCD_TYPE__NULL, matrix = UCD_TYPE__NULL;
        REQUIRE(ucd_create_contig(width, UCD_TYPE__BYTE, nullptr, &entry) == UCD_SUCCESS);
        REQUIRE(ucd_create_ndarray(2, shape, strides, entry, nullptr, &matrix) == UCD_SUCCESS);
        std::vector<unsigned char> memory(count * bytes), packed(count * bytes), expected;
        for (std::size_t i = 0; i < memory.size(); ++i)
            memory[i] = static_cast<unsigned char>(i * 37 + i / 256 * 11);
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t e = 0; e < entries; ++e)
                for (std::size_t b = 0; b < block; ++b)
                    expected.push_back(
                        memory[k * bytes + (e % rows * columns + e / rows) * block + b]);
        pack_now(memory.data(), count, matrix, 0, packed.data(), packed.size());
        CHECK((packed == expected));
        std::vector<unsigned char> target(memory.size());
        unpack_now(packed.data(), packed.size(), target.data(), count, matrix, 0);
        CHECK((target == memory));
        REQUIRE(ucd_free(&matrix) == UCD_SUCCESS);
        REQUIRE(ucd_free(&entry) == UCD_SUCCESS);
    }
}

} // namespace permuted_test
