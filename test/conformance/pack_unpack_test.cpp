// Packing and unpacking random layouts, whole and in part, in ordinary memory.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/move_now.hpp"
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

TEST_CASE("pack and unpack random layouts, whole and in parts") {
    for (const bool packs : {true, false})
        run_cases(packs ? "pack" : "unpack", 60000, [packs](Case &one) {
            Rng &rng = one.rng();
            RecipeOptions options;
            options.unpack_safe = !packs && !rng.chance(15);
            const Subject subject = random_subject(one, options);
            GuardedBuffer memory(rng, subject.range);
            const MemoryLocation typed = place(subject, memory);
            GuardedBuffer packed = packed_buffer(rng, subject.size() + spare_room);
            const std::size_t room = subject.size() + rng.below(spare_room + 1);
            check_move(one, packs, typed, 0, room, packed);
            for (int i = 0; i < 4; ++i) {
                packed.randomise(rng);
                const Range range = random_range(rng, subject.size());
                check_move(one, packs, typed, range.offset, range.length, packed);
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
                for (const bool packs : {true, false}) {
                    packed.randomise(rng);
                    check_move(one, packs, where, offset, length, packed);
                }
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
        for (const bool packs : {true, false}) {
            if (!packs) stream.randomise(rng);
            for (std::size_t i = 0; i < subject.size(); ++i) {
                const auto at = static_cast<std::intptr_t>(i);
                if (packs)
                    *stream.expected(at) = *memory.actual(subject.bytes[i]);
                else
                    *memory.expected(subject.bytes[i]) = *stream.actual(at);
            }
            for (const Range &r : random_fragments(rng, subject.size())) {
                std::uintptr_t actual = untouched;
                one.succeed(packs ? call_pack(rng, memory.base(), subject.count, subject.type(),
                                              r.offset, part(r.offset), r.length, &actual)
                                  : call_unpack(rng, part(r.offset), r.length, memory.base(),
                                                subject.count, subject.type(), r.offset, &actual),
                            "a fragment");
                if (actual != r.length) one.fail("moved ", actual, " bytes, not ", r.length);
            }
            require_intact(one, packs ? stream : memory, "the fragments");
        }
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
        for (const bool packs : {true, false}) {
            packed.randomise(rng);
            const Range range = random_range(rng, subject.size());
            check_move(one, packs, where, range.offset, range.length, packed);
        }
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
        for (const ucd_move_t &move :
             {pack_move(memory.base(), subject.count, subject.type(), offset, packed.base(), 16),
              unpack_move(packed.base(), 16, memory.base(), subject.count, subject.type(),
                          offset)}) {
            const int rc = call_any(rng, move, &actual, UCD_INFO__NULL, UCD_OP__REPLACE, true);
            if (rc != UCD_ERR__INVALID_ARG) one.fail("the call returned ", ucd_strerror(rc));
        }
        if (actual != untouched) one.fail("actual was set to ", actual);
        require_intact(one, memory, "layout");
        require_intact(one, packed, "packed buffer");
    });
}

TEST_CASE("packed buffers may be NULL for 0 bytes only") {
    std::uintptr_t actual = untouched;
    int value = 7;
    REQUIRE(pack_now(&value, 1, UCD_TYPE__INT, 4, nullptr, 0) == 0);
    REQUIRE(unpack_now(nullptr, 0, &value, 1, UCD_TYPE__INT, 2) == 0);
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
    REQUIRE(pack_now(memory.data(), 1, type.get(), 0, packed.data(), packed.size()) ==
            packed.size());
    bool good = true;
    for (std::size_t i = 0; i < blocks && good; ++i) {
        good = std::memcmp(packed.data() + i * block, memory.data() + i * stride, block) == 0;
    }
    REQUIRE(good);

    std::vector<unsigned char> target(memory.size(), 0xdd);
    unpack_now(packed.data(), packed.size(), target.data(), 1, type.get(), 0);
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
