// How the members of lists become moves that one launch makes.
#include "support/catch.hpp"

#include "support/moves/move_list.hpp"
#include "support/moves/recipe_build.hpp"
#include "transfer/members.h"

#include <ucd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace members_test {

using namespace ucdtest;

namespace {

// Lists that the host moves as a stream's device would, wherever hints say that they are.
struct OnHost {
    explicit OnHost(uint32_t threads = 1) {
        hints.inbuf = hints.outbuf = &memory;
        hints.limits.threads = threads;
    }
    // Packs, which begin with an empty list.
    ucd::OneWay one_way() const {
        ucd::OneWay packs(ucd::Router(context, hints, &stream), ucd::Direction::pack);
        REQUIRE(packs.begin({}));
        return packs;
    }

    ucd::Context &context = *ucd::running_context.load();
    const ucd::LocationHint memory{};
    ucd::Hints hints;
    const ucd::StreamTarget stream{ucd::host_executor(context), {}};
};

// Members of one type, each with a place of its own.
MoveList members_of(ucd_type_t type, std::size_t count) {
    static std::array<char, 4096> typed, packed;
    MoveList descs;
    for (std::size_t i = 0; i < count; ++i)
        descs.push_back(pack_move(&typed[16 * i], 1, type, 0, &packed[16 * i], 8));
    return descs;
}

} // namespace

// Whether fields are looked at to the last bit: those that may differ in no bit where members are
// alike, and the reserved ones.
TEST_CASE("members are alike only if they have the same arguments, to the last bit") {
    char typed = 0, packed = 0;
    ucd_type_t const type = UCD_TYPE__INT;
    for (const ucd_move_t &one :
         {pack_move(&typed, 3, type, 4, &packed, 8), unpack_move(&packed, 8, &typed, 3, type, 4),
          part_move(&typed, 3, type, 4, &packed, 1, type, 0, 8)})
        for (std::size_t bit = 0; bit < 8 * sizeof one; ++bit) {
            ucd_move_t other = one;
            reinterpret_cast<unsigned char *>(&other)[bit / 8] ^=
                static_cast<unsigned char>(1 << bit % 8);
            const auto is_in = [&](std::size_t begin, std::size_t bytes) {
                return bit / 8 - begin < bytes;
            };
#define IS_IN(name) is_in(offsetof(ucd_move_t, name), sizeof(ucd_move_t::name))
            INFO("bit " << bit);
            CHECK(ucd::is_alike(one, other) ==
                  (IS_IN(inbuf) || IS_IN(outbuf) || IS_IN(actual_bytes) || IS_IN(consumed_bytes) ||
                   IS_IN(reserved)));
            CHECK(ucd::must_be_checked(other) == IS_IN(reserved));
        }
}

TEST_CASE("a new batch is divided into one part for each thread that it is worth") {
    const auto parts = [](std::size_t members, uint32_t threads) {
        const OnHost lists(threads);
        ucd::OneWay one_way = lists.one_way();
        MoveList descs(members);
        ucd::MembersMade moves(one_way, descs);
        unsigned divided = 0;
        REQUIRE(moves.divide(divided).ok());
        std::size_t in_parts = 0;
        for (unsigned i = 0; divided > 1 && i < divided; ++i) in_parts += moves.part(i)->members();
        CHECK(in_parts == (divided > 1 ? members : 0));
        return divided;
    };
    CHECK(parts(10, 4) == 1);
    CHECK(parts(65535, 4) == 1);
    CHECK(parts(65536, 1) == 1);
    CHECK(parts(65536, 4) == 2);
    CHECK(parts(98305, 3) == 3);
}

TEST_CASE("members that differ in their addresses only are one portion of moves") {
    const BuiltType type(recipes::vector(2, 1, 2, recipes::leaf(UCD_TYPE__INT)));
    const OnHost lists;
    ucd::OneWay one_way = lists.one_way();
    MoveList descs = members_of(type.get(), 20);
    descs[12].inoffset = 4;
    descs[15].incount = 0; // nothing to move
    ucd::MembersMade moves(one_way, descs);
    std::vector<std::size_t> portions, firsts;
    std::array<ucd::MoveAddresses, 8> at;
    ucd::Move move;
    for (std::size_t first = 0, made = 1; made > 0;) {
        REQUIRE(moves.make(first, move, at.data(), at.size(), made).ok());
        portions.push_back(made);
        firsts.push_back(first);
        for (std::size_t i = 0; i < made; ++i) {
            CHECK(at[i].from == descs[first - made + i].inbuf);
            CHECK(at[i].to == descs[first - made + i].outbuf);
        }
        if (made > 0) CHECK(move.from.offset == (first == 13 ? 4 : 0));
    }
    CHECK(portions == std::vector<std::size_t>{8, 4, 1, 2, 4, 0});
    CHECK(firsts == std::vector<std::size_t>{8, 12, 13, 15, 20, 20});
}

TEST_CASE("lengths are written while moves are made, and taken back unless they start") {
    const BuiltType type(recipes::vector(2, 1, 2, recipes::leaf(UCD_TYPE__INT)));
    const OnHost lists;
    ucd::OneWay one_way = lists.one_way();
    MoveList descs = members_of(type.get(), 20);
    using Lengths = std::vector<std::uintptr_t>;
    const Lengths before = {7, 7, 8, 8, 7, 1, 2, 3, 8, 8, 0, 0, 5, 5, 5, 9, 0, 0, 0, 8};
    // Of one what the other has backwards.
    for (std::size_t i = 0; i < descs.size(); ++i) {
        descs[i].actual_bytes = before[i];
        descs[i].consumed_bytes = before[descs.size() - 1 - i];
    }
    descs[12].inoffset = 4;
    descs[15].incount = 0;
    const auto has = [&](const Lengths &actual, const Lengths &consumed) {
        for (std::size_t i = 0; i < descs.size(); ++i)
            if (descs[i].actual_bytes != actual[i] || descs[i].consumed_bytes != consumed[i])
                return false;
        return true;
    };
    const auto as_before = [&] { return has(before, Lengths(before.rbegin(), before.rend())); };
    Lengths made(20, 8);
    made[12] = 4;
    made[15] = 0;
    std::vector<ucd::Move> moves;
    for (const int times : {1, 2}) { // a backend may ask for all of them again
        ucd::MembersMade maker(one_way, descs);
        for (int i = 0; i < times; ++i) REQUIRE(ucd::make_all(maker, moves).ok());
        CHECK(has(made, made));
    }
    CHECK(as_before());
    descs[18].outbuf = nullptr;
    {
        ucd::MembersMade maker(one_way, descs);
        CHECK_FALSE(ucd::make_all(maker, moves).ok());
    }
    CHECK(as_before());
    descs[18].outbuf = descs[17].outbuf;
    {
        ucd::MembersMade maker(one_way, descs);
        REQUIRE(ucd::make_all(maker, moves).ok());
        maker.keep_lengths();
    }
    CHECK(has(made, made));
}

// Of the same members as moves of any kind; another direction and a copy are no such moves.
TEST_CASE("moves of one direction are made as packs are, and others are found") {
    const BuiltType type(recipes::vector(2, 1, 2, recipes::leaf(UCD_TYPE__INT)));
    const OnHost lists;
    ucd::OneWay one_way = lists.one_way();
    MoveList descs = members_of(type.get(), 20);
    const auto make_all = [&](bool &is_mixed) {
        ucd::MembersMade maker(one_way, descs);
        std::vector<ucd::Move> moves;
        const bool made = ucd::make_all(maker, moves).ok();
        is_mixed = maker.is_mixed();
        return made ? moves.size() : 0;
    };
    bool is_mixed = true;
    CHECK(make_all(is_mixed) == 20);
    CHECK_FALSE(is_mixed);
    descs[7].outtype = type.get();
    CHECK(make_all(is_mixed) == 0);
    CHECK(is_mixed);
    std::swap(descs[7].intype, descs[7].outtype);
    descs[7].intype = UCD_TYPE__NULL;
    CHECK(make_all(is_mixed) == 0);
    CHECK(is_mixed);
    descs[7] = descs[6];
    descs[7].inbuf = nullptr; // an absolute address: right
    CHECK(make_all(is_mixed) == 20);
    descs[7].outbuf = nullptr;
    CHECK(make_all(is_mixed) == 0);
    CHECK_FALSE(is_mixed);
    CHECK(std::string(ucd::last_error().text).find("moves[7]: outbuf") != std::string::npos);
}

} // namespace members_test
