// How threads divide one move on the CPU: what they move is compared with the oracle elsewhere;
// here, that each of them has as much to do, wherever the range begins.
#include "host_functions.h"
#include "plan.h"
#include "share.h"
#include "useful_threads.h"

#include "support/catch.hpp"

#include "prepared/type_cache.h"
#include "support/moves/backend_move.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/random/rng.hpp"

#include <cstdint>
#include <vector>

namespace shares_test {

using namespace ucdtest;

namespace {

// The element boundaries of {float, double} in a row are 12 i and 12 i + 4.
bool is_boundary(uint64_t position) {
    return position % 12 == 0 || position % 12 == 4;
}

void check_shares(const ucd::Move &move, unsigned shares) {
    const uint64_t offset = move.from.offset;
    const uint64_t equal = move.length / shares, end = offset + move.length;
    CHECK(ucd::seq::share_begin(move, 0, shares) == offset);
    CHECK(ucd::seq::share_begin(move, shares, shares) == end);
    for (unsigned i = 1; i < shares; ++i) {
        const uint64_t cut = ucd::seq::share_begin(move, i, shares), wanted = offset + equal * i;
        INFO("offset " << offset << ", length " << move.length << ", share " << i << " of "
                       << shares << " begins with " << cut);
        CHECK(cut >= offset);
        CHECK(cut <= wanted);
        if (move.op == ucd::Op::replace) {
            CHECK((cut - offset) % 64 == 0);
            CHECK(cut + 64 > wanted);
        } else {
            CHECK((is_boundary(cut) || cut == offset));
            CHECK(cut + 64 + 8 > wanted);
        }
    }
}

} // namespace

TEST_CASE("a move gets a thread for each half MiB, up to as many as the caller allows") {
    using ucd::seq::useful_threads;
    constexpr uint64_t half = uint64_t{512} << 10;
    CHECK(useful_threads(0, 8) == 1);
    CHECK(useful_threads(2 * half - 1, 8) == 1);
    CHECK(useful_threads(2 * half, 8) == 2);
    CHECK(useful_threads(3 * half, 2) == 2);
    CHECK(useful_threads(UINT64_MAX, 8) == 8);
    for (const uint32_t most : {0, 1}) CHECK(useful_threads(100 * half, most) == 1);
}

TEST_CASE("threads move lists of blocks with lengths of their own as one does") {
    // Some are empty; 1.5 MiB and more, which is worth three threads.
    std::vector<int64_t> displs, lengths;
    Rng rng(2);
    int64_t at = 0;
    uint64_t units = 0;
    while (units < 200000) {
        const auto length = static_cast<int64_t>(rng.below(9));
        displs.push_back(at);
        lengths.push_back(length);
        at += length + 1 + static_cast<int64_t>(rng.below(3));
        units += static_cast<uint64_t>(length);
    }
    const auto in_bytes = static_cast<int64_t>(sizeof(uint64_t));
    std::vector<int64_t> places = displs;
    for (int64_t &place : places) place *= in_bytes;
    std::vector<uint64_t> first{0};
    for (const int64_t length : lengths)
        first.push_back(first.back() + static_cast<uint64_t>(length));
    std::vector<uint64_t> memory(static_cast<std::size_t>(at)), expected;
    for (uint64_t &value : memory) value = rng.bits();
    for (std::size_t i = 0; i < displs.size(); ++i)
        for (int64_t k = 0; k < lengths[i]; ++k)
            expected.push_back(memory[static_cast<std::size_t>(displs[i] + k)]);
    for (const uint32_t threads : {1u, 2u, 3u}) {
        std::vector<uint64_t> packed(units), unpacked(memory.size(), 7);
        ucd::PlainBlocks list;
        list.displs = places;
        list.first = first.data();
        list.shortest = 0;
        list.longest = 8;
        list.shift = -2 * in_bytes;
        list.bytes = sizeof(uint64_t);
        ucd::ListMove move{
            ucd::Direction::pack,
            {reinterpret_cast<char *>(memory.data() + 2), reinterpret_cast<char *>(packed.data())},
            units * sizeof(uint64_t),
            threads};
        ucd::move_list(list, move);
        INFO(threads << " threads");
        CHECK((packed == expected)); // too many to be printed
        move.direction = ucd::Direction::unpack;
        move.at = {move.at.to, reinterpret_cast<char *>(unpacked.data() + 2)};
        ucd::move_list(list, move);
        std::vector<uint64_t> wanted(memory.size(), 7);
        for (std::size_t i = 0; i < displs.size(); ++i)
            for (int64_t k = 0; k < lengths[i]; ++k)
                wanted[static_cast<std::size_t>(displs[i] + k)] =
                    memory[static_cast<std::size_t>(displs[i] + k)];
        CHECK((unpacked == wanted));
    }
}

TEST_CASE("threads have equal shares of a range, wherever it begins") {
    const BuiltType built(recipes::structure(
        {1, 1}, {0, 8}, {recipes::leaf(UCD_TYPE__FLOAT), recipes::leaf(UCD_TYPE__DOUBLE)}));
    const ucd::Type *type = nullptr;
    REQUIRE(ucd::resolve(built.get(), "type", type).ok());
    constexpr uint64_t count = uint64_t{1} << 40;
    const uint64_t total = count * type->size;
    const ucd::seq::SeqPlan plan(ucd::layout_of(*type), type->extent(), true, SIZE_MAX);
    Rng rng(1);
    for (const ucd::Op op : {ucd::Op::replace, ucd::Op::sum})
        for (int i = 0; i < 300; ++i) {
            const uint64_t offset = rng.chance(30)   ? 0
                                    : rng.chance(50) ? rng.below(1 << 20)
                                                     : rng.below(total - (1 << 24));
            ucd::Move move =
                move_of(plan, nullptr, nullptr, 0, ucd::Direction::pack, count, offset);
            move.op = op;
            move.elements = &ucd::elements_of(*type);
            move.length = rng.chance(10) ? total - offset : 1 + rng.below(1 << 24);
            check_shares(move, 2 + static_cast<unsigned>(rng.below(63)));
        }
}

} // namespace shares_test
