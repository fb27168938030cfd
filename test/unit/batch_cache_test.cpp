// Which batches are worth being remembered, and how new ones are divided.
#include "support/catch.hpp"

#include "support/moves/recipe_build.hpp"
#include "transfer/batch_cache.h"
#include "transfer/batch_moves.h"

#include <ucd.h>

#include <array>
#include <memory>
#include <vector>

namespace {

using Descs = std::vector<ucd_pack_desc_t>;

ucd::Dispatch on_host() {
    ucd::Dispatch dispatch;
    dispatch.executor = {&ucd::running_context.load()->host(), ucd::Context::host_index, 0};
    return dispatch;
}

// Members of one type, each with a place of its own.
Descs members_of(ucd_type_t type, std::size_t count) {
    static std::array<char, 4096> typed, packed;
    Descs descs;
    for (std::size_t i = 0; i < count; ++i)
        descs.push_back({&typed[16 * i], 1, type, 0, &packed[16 * i], 8, 0, {0, 0}});
    return descs;
}

} // namespace

TEST_CASE("a batch comes again at its second time") {
    ucd::BatchCache cache;
    const ucd::Dispatch dispatch;
    ucd::Dispatch other;
    other.settings.limits.max_blocks = 7;
    CHECK_FALSE(cache.comes_again(dispatch, 100, 1));
    CHECK_FALSE(cache.comes_again(dispatch, 100, 2));
    CHECK_FALSE(cache.comes_again(dispatch, 101, 1));
    CHECK_FALSE(cache.comes_again(other, 100, 1));
    CHECK(cache.comes_again(dispatch, 100, 1));
    CHECK(cache.comes_again(other, 100, 1));
}

// They have one digest if they differ where it does not look.
TEST_CASE("batches that are nearly alike are hardly ever remembered") {
    ucd::BatchCache cache;
    int times = 0;
    for (int call = 0; call < 1000; ++call) times += cache.comes_again(ucd::Dispatch(), 100000, 1);
    CHECK(times >= 1);
    CHECK(times <= 10);
}

TEST_CASE("a new batch is divided into one part for each thread that it is worth") {
    ucd::Dispatch dispatch;
    const auto parts = [&](std::size_t members, uint32_t threads) {
        dispatch.settings.limits.threads = threads;
        const std::vector<ucd_pack_desc_t> descs(members);
        ucd::BatchMoves<ucd_pack_desc_t> moves(dispatch, descs);
        const unsigned divided = moves.divide();
        std::size_t in_parts = 0;
        for (unsigned i = 0; divided > 1 && i < divided; ++i) in_parts += moves.part(i).members();
        CHECK(in_parts == (divided > 1 ? members : 0));
        return divided;
    };
    CHECK(parts(10, 4) == 1);
    CHECK(parts(65535, 4) == 1);
    CHECK(parts(65536, 1) == 1);
    CHECK(parts(65536, 4) == 2);
    CHECK(parts(98305, 3) == 3);
}

TEST_CASE("a batch that was added is found, even one of a single member") {
    const ucdtest::BuiltType type(
        ucdtest::recipes::vector(2, 1, 2, ucdtest::recipes::leaf(UCD_TYPE__INT)));
    const ucd::Dispatch dispatch = on_host();
    for (const std::size_t count : {1, 2, 7}) {
        ucd::BatchCache cache;
        const Descs descs = members_of(type.get(), count);
        const std::span<const ucd_pack_desc_t> members(descs);
        std::shared_ptr<ucd::CachedBatch> batch;
        REQUIRE(make_cached_batch(dispatch, members, batch).ok());
        REQUIRE(batch != nullptr);
        batch->keep_types();
        CHECK(cache.find(dispatch, members) == nullptr);
        cache.add(batch);
        CHECK(cache.find(dispatch, members) == batch);
    }
}

TEST_CASE("members that differ in their addresses only are one portion of moves") {
    const ucdtest::BuiltType type(
        ucdtest::recipes::vector(2, 1, 2, ucdtest::recipes::leaf(UCD_TYPE__INT)));
    const ucd::Dispatch dispatch = on_host();
    Descs descs = members_of(type.get(), 20);
    descs[12].inoffset = 4;
    descs[15].incount = 0; // nothing to move
    ucd::BatchMoves<ucd_pack_desc_t> moves(dispatch, descs);
    std::vector<std::size_t> portions, firsts;
    std::array<ucd::MoveAddresses, 8> at;
    ucd::Move move;
    for (std::size_t first = 0, made = 1; made > 0;) {
        REQUIRE(moves.make(first, move, at, made).ok());
        portions.push_back(made);
        firsts.push_back(first);
        for (std::size_t i = 0; i < made; ++i) {
            CHECK(at[i].typed == descs[first - made + i].inbuf);
            CHECK(at[i].packed == descs[first - made + i].outbuf);
        }
        if (made > 0) CHECK(move.offset == (first == 13 ? 4 : 0));
    }
    CHECK(portions == std::vector<std::size_t>{8, 4, 1, 2, 4, 0});
    CHECK(firsts == std::vector<std::size_t>{8, 12, 13, 15, 20, 20});
}
