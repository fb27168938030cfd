// Arrays whose packed order is another than that in memory: every permutation of up to four
// dimensions, whole and in parts, against an enumeration of the entries.
#include "support/catch.hpp"
#include "support/moves/calls.hpp"
#include "support/random/random_cases.hpp"

#include <ucd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

using namespace ucdtest;

namespace {

struct Permuted {
    std::intptr_t block;                       // bytes of an entry
    std::vector<std::intptr_t> shape, strides; // in packed order
    std::size_t entries = 1, span = 0;

    // An array of random shape, packed in a random order of its dimensions.
    Permuted(Rng &rng, std::size_t max_entries) {
        constexpr std::intptr_t blocks[] = {1, 2, 3, 4, 8, 12, 16, 24, 40};
        block = blocks[rng.below(std::size(blocks))];
        const std::size_t dims = 2 + rng.below(3);
        std::vector<std::intptr_t> memory_shape(dims), memory_strides(dims);
        std::intptr_t step = block;
        for (std::size_t d = dims; d-- > 0;) {
            const std::size_t room = max_entries / entries;
            memory_shape[d] =
                static_cast<std::intptr_t>(1 + rng.below(std::min<std::size_t>(room, 90)));
            memory_strides[d] = step;
            const std::intptr_t padding = rng.chance(30) ? rng.between(0, 100) : 0;
            step = step * memory_shape[d] + padding;
            entries *= static_cast<std::size_t>(memory_shape[d]);
        }
        span = static_cast<std::size_t>(step);
        std::vector<std::size_t> order(dims);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t d = dims; d-- > 1;) std::swap(order[d], order[rng.below(d + 1)]);
        for (const std::size_t d : order) {
            shape.push_back(memory_shape[d]);
            strides.push_back(memory_strides[d]);
        }
    }

    std::size_t offset_of(std::size_t entry) const {
        std::size_t at = 0;
        for (std::size_t d = shape.size(); d-- > 0;) {
            const auto extent = static_cast<std::size_t>(shape[d]);
            at += entry % extent * static_cast<std::size_t>(strides[d]);
            entry /= extent;
        }
        return at;
    }
};

// The permuted dimensions, the outermost by the call's count if `by_count`.
ucd_type_t build(const Permuted &p, bool by_count) {
    ucd_type_t block = UCD_TYPE__NULL, array = UCD_TYPE__NULL, type = UCD_TYPE__NULL;
    REQUIRE(ucd_create_contig(p.block, UCD_TYPE__BYTE, nullptr, &block) == UCD_SUCCESS);
    const int first = by_count ? 1 : 0;
    REQUIRE(ucd_create_ndarray(static_cast<int>(p.shape.size()) - first, p.shape.data() + first,
                               p.strides.data() + first, block, nullptr, &array) == UCD_SUCCESS);
    REQUIRE(ucd_create_resized(array, 0, p.strides[0], nullptr, &type) == UCD_SUCCESS);
    REQUIRE(ucd_free(&array) == UCD_SUCCESS);
    REQUIRE(ucd_free(&block) == UCD_SUCCESS);
    return type;
}

} // namespace

TEST_CASE("arrays in any order of their dimensions") {
    run_cases("permuted", 3000, [](Case &one) {
        Rng &rng = one.rng();
        const Permuted p(rng, rng.chance(10) ? 60000 : 2000);
        const bool by_count = rng.chance(40);
        ucd_type_t type = build(p, by_count);
        const std::uintptr_t count = by_count ? static_cast<std::uintptr_t>(p.shape[0]) : 1;
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
