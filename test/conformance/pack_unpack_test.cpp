// Packing and unpacking random layouts, whole and in part, in ordinary memory.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/moving.hpp"

#include <algorithm>
#include <cstring>

namespace pack_unpack_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Some room more than there are bytes, to offer more than can be moved.
constexpr std::size_t spare_room = 40;

struct Range {
    std::size_t offset, length; // the length may reach beyond the end
};

Range random_range(Rng &rng, std::size_t total) {
    const std::size_t offset = rng.below(total + 1);
    const std::size_t rest = total - offset;
    if (rng.chance(20)) return {offset, rest + rng.below(spare_room + 1)};
    return {offset, rng.chance(30) ? rng.mostly_small(rest) : rng.below(rest + 1)};
}

// Cut points of a stream, in any order, so that fragments arrive as a network delivers them.
std::vector<Range> random_fragments(Rng &rng, std::size_t total) {
    std::vector<std::size_t> cuts = {0, total};
    for (std::size_t i = rng.below(6); i > 0; --i) cuts.push_back(rng.below(total + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<Range> fragments;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        fragments.push_back({cuts[i], cuts[i + 1] - cuts[i]});
    }
    rng.shuffle(fragments);
    return fragments;
}

} // namespace

TEST_CASE("pack random layouts, whole and in parts") {
    run_cases("pack", 60000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_subject(one);
        GuardedBuffer source(rng, subject.range);
        const MemoryLocation from = place(subject, source);
        GuardedBuffer packed = packed_buffer(rng, subject.size() + spare_room);
        check_pack(one, from, 0, subject.size() + rng.below(spare_room + 1), packed);
        for (int i = 0; i < 4; ++i) {
            packed.randomise(rng);
            const Range range = random_range(rng, subject.size());
            check_pack(one, from, range.offset, range.length, packed);
        }
    });
}

TEST_CASE("unpack to random layouts, whole and in parts") {
    run_cases("unpack", 60000, [](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options;
        options.unpack_safe = !rng.chance(15);
        const Subject subject = random_subject(one, options);
        GuardedBuffer target(rng, subject.range);
        const MemoryLocation to = place(subject, target);
        GuardedBuffer packed = packed_buffer(rng, subject.size() + spare_room);
        check_unpack(one, packed, subject.size() + rng.below(spare_room + 1), to, 0);
        for (int i = 0; i < 4; ++i) {
            packed.randomise(rng);
            const Range range = random_range(rng, subject.size());
            check_unpack(one, packed, range.length, to, range.offset);
        }
    });
}

TEST_CASE("every offset and every length of small types") {
    run_cases("every range", 6000, [](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options;
        options.max_bytes = rng.chance(50) ? 32 : 16;
        options.max_span = 1024;
        options.unpack_safe = true;
        const Subject subject = random_subject(one, options, 3);
        if (subject.size() > 48) return;
        GuardedBuffer memory(rng, subject.range);
        const MemoryLocation where = place(subject, memory);
        GuardedBuffer packed = packed_buffer(rng, subject.size() + 1);
        for (std::size_t offset = 0; offset <= subject.size(); ++offset) {
            for (std::size_t length = 0; length <= subject.size() - offset + 1; ++length) {
                packed.randomise(rng);
                check_pack(one, where, offset, length, packed);
                packed.randomise(rng);
                check_unpack(one, packed, length, where, offset);
            }
        }
    });
}

TEST_CASE("fragments in any order make the whole") {
    run_cases("fragments", 4000, [](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options;
        options.unpack_safe = true;
        const Subject subject = random_subject(one, options);
        GuardedBuffer memory(rng, subject.range);
        GuardedBuffer stream = packed_buffer(rng, subject.size());
        const auto part = [&](std::size_t offset) {
            return stream.actual(static_cast<std::intptr_t>(offset));
        };
        for (std::size_t i = 0; i < subject.size(); ++i) {
            *stream.expected(static_cast<std::intptr_t>(i)) = *memory.actual(subject.bytes[i]);
        }
        for (const Range &range : random_fragments(rng, subject.size())) {
            std::uintptr_t actual = untouched;
            one.succeed(call_pack(rng, memory.base(), subject.count, subject.type(), range.offset,
                                  part(range.offset), range.length, &actual),
                        "pack");
            if (actual != range.length) one.fail("packed ", actual, ", not ", range.length);
        }
        require_intact(one, stream, "the packed fragments");
        stream.randomise(rng);
        for (std::size_t i = 0; i < subject.size(); ++i) {
            *memory.expected(subject.bytes[i]) = *stream.actual(static_cast<std::intptr_t>(i));
        }
        for (const Range &range : random_fragments(rng, subject.size())) {
            std::uintptr_t actual = untouched;
            one.succeed(call_unpack(rng, part(range.offset), range.length, memory.base(),
                                    subject.count, subject.type(), range.offset, &actual),
                        "unpack");
            if (actual != range.length) one.fail("unpacked ", actual, ", not ", range.length);
        }
        require_intact(one, memory, "the unpacked fragments");
    });
}

TEST_CASE("absolute displacements in a NULL buffer") {
    run_cases("absolute", 4000, [](Case &one) {
        Rng &rng = one.rng();
        RecipeOptions options;
        options.unpack_safe = true;
        const Subject subject = random_subject(one, options);
        GuardedBuffer memory(rng, subject.range);
        BuiltType shifted;
        const MemoryLocation where = absolute_place(rng, subject, memory, shifted);
        GuardedBuffer packed = packed_buffer(rng, subject.size() + spare_room);
        Range range = random_range(rng, subject.size());
        check_pack(one, where, range.offset, range.length, packed);
        packed.randomise(rng);
        range = random_range(rng, subject.size());
        check_unpack(one, packed, range.length, where, range.offset);
    });
}

TEST_CASE("an offset beyond the end is refused and changes nothing") {
    run_cases("beyond the end", 1000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_subject(one);
        GuardedBuffer memory(rng, subject.range);
        GuardedBuffer packed = packed_buffer(rng, 16);
        const std::uintptr_t offset =
            rng.chance(20) ? UINTPTR_MAX - rng.below(3) : subject.size() + 1 + rng.below(100);
        std::uintptr_t actual = untouched;
        int rc = call_pack(rng, memory.base(), subject.count, subject.type(), offset, packed.base(),
                           16, &actual);
        if (rc != UCD_ERR__INVALID_ARG) one.fail("pack returned ", ucd_strerror(rc));
        rc = call_unpack(rng, packed.base(), 16, memory.base(), subject.count, subject.type(),
                         offset, &actual);
        if (rc != UCD_ERR__INVALID_ARG) one.fail("unpack returned ", ucd_strerror(rc));
        if (actual != untouched) one.fail("actual was set to ", actual);
        require_intact(one, memory, "layout");
        require_intact(one, packed, "packed buffer");
    });
}

TEST_CASE("packed buffers may be NULL for 0 bytes only") {
    std::uintptr_t actual = untouched;
    int value = 7;
    REQUIRE(ucd_pack(&value, 1, UCD_TYPE__INT, 4, nullptr, 0, &actual, UCD_INFO__NULL,
                     UCD_OP__REPLACE) == UCD_SUCCESS);
    REQUIRE(actual == 0);
    REQUIRE(ucd_unpack(nullptr, 0, &value, 1, UCD_TYPE__INT, 2, &actual, UCD_INFO__NULL,
                       UCD_OP__REPLACE) == UCD_SUCCESS);
    REQUIRE(actual == 0);
    REQUIRE(ucd_pack(&value, 1, UCD_TYPE__INT, 0, nullptr, 4, &actual, UCD_INFO__NULL,
                     UCD_OP__REPLACE) == UCD_ERR__INVALID_ARG);
    REQUIRE(ucd_unpack(nullptr, 4, &value, 1, UCD_TYPE__INT, 0, &actual, UCD_INFO__NULL,
                       UCD_OP__REPLACE) == UCD_ERR__INVALID_ARG);
    REQUIRE(value == 7);
}

namespace {

// Too large for the byte map: blocks of `block` bytes, `stride` apart, checked block by block.
void check_large(std::size_t blocks, std::size_t block, std::size_t stride) {
    INFO(blocks << " blocks of " << block << " bytes, " << stride << " apart");
    const auto type =
        BuiltType(hvector(static_cast<std::intptr_t>(blocks), static_cast<std::intptr_t>(block),
                          static_cast<std::intptr_t>(stride), leaf(UCD_TYPE__BYTE)));
    std::vector<unsigned char> memory(blocks * stride), packed(blocks * block, 0xee);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    }
    std::uintptr_t actual = 0;
    REQUIRE(ucd_pack(memory.data(), 1, type.get(), 0, packed.data(), packed.size(), &actual,
                     UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
    REQUIRE(actual == packed.size());
    bool good = true;
    for (std::size_t i = 0; i < blocks && good; ++i) {
        good = std::memcmp(packed.data() + i * block, memory.data() + i * stride, block) == 0;
    }
    REQUIRE(good);

    std::vector<unsigned char> target(memory.size(), 0xdd);
    REQUIRE(ucd_unpack(packed.data(), packed.size(), target.data(), 1, type.get(), 0, &actual,
                       UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
    for (std::size_t i = 0; i < blocks && good; ++i) {
        const unsigned char *const row = target.data() + i * stride;
        good = std::memcmp(row, memory.data() + i * stride, block) == 0;
        good = good && std::all_of(row + block, row + stride, [](auto c) { return c == 0xdd; });
    }
    REQUIRE(good);
}

} // namespace

TEST_CASE("layouts larger than the caches") {
    check_large(1, std::size_t{40} << 20, std::size_t{40} << 20);
    check_large(std::size_t{3} << 20, 8, 12);
    check_large(std::size_t{5} << 20, 4, 8);
    check_large(300, 70001, 70100);
    check_large(1 << 16, 100, 257);
    // Steps whose cache lines compete, in the caches and beyond them.
    for (const std::size_t block : {1, 2, 4, 8, 16}) {
        check_large(3000, block, 512);
        check_large(1500, block, 1024);
        check_large(2001, block, 2048);
        check_large(1111, block, 4096);
        check_large(33001, block, 2048);
        check_large(5000, block, 104);
    }
    check_large(std::size_t{1} << 20, 8, 64);
    check_large(std::size_t{1} << 20, 16, 48);
}

} // namespace pack_unpack_test
