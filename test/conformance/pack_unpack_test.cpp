// Packing and unpacking random layouts, whole and in part, in ordinary memory.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
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
