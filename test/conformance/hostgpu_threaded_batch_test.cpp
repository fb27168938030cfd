// New batches of so many members that several threads make their tables: a launch for each thread.
#include "support/catch.hpp"

#include "support/moves/batch_calls.hpp"
#include "support/moves/calls.hpp"

#include <list>
#include <string>
#include <vector>

namespace hostgpu_threaded_batch_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

constexpr std::size_t a_thread = 32768; // members that are worth one

// Runs of members that are alike, of many lengths, across the borders of the threads' parts.
struct Mixed {
    Case one;
    std::list<Subject> subjects;
    BatchMoves moves{one};

    // Batches that are equal would be recognised when they come again.
    Mixed(std::size_t members, std::size_t which) : one("many members", which) {
        const RecipePtr number = leaf(UCD_TYPE__DOUBLE);
        for (const RecipePtr &recipe :
             {contig(3, number), vector(4, 1, 3, number), indexed({3, 1, 2}, {0, 7, 12}, number),
              vector(3, 5, 12, leaf(UCD_TYPE__SHORT)),
              structure({1, 2}, {0, 16}, {leaf(UCD_TYPE__INT), number}),
              hvector(2, 1, 200, indexed_block(2, {5, 0, 17, 9}, number))})
            subjects.push_back(make_subject(one, recipe, 1));
        Rng &rng = one.rng();
        while (moves.size() < members) {
            const Subject &s = *std::next(subjects.begin(), static_cast<int>(rng.below(6)));
            const std::size_t offset = rng.chance(70) ? 0 : rng.below(s.size());
            const std::size_t length =
                rng.chance(70) ? s.size() - offset : rng.below(s.size() - offset);
            for (std::size_t run = rng.below(150); run > 0 && moves.size() < members; --run)
                moves.add(s, offset, length);
        }
        moves.allocate(device0, device0);
        moves.set_up_pack();
    }
};

} // namespace

TEST_CASE("a new batch in several threads") {
    DeviceSession session;
    const bool given = GENERATE(false, true);
    struct {
        std::size_t members;
        const char *threads;
        int launches;
    } const batches[] = {
        {3 * a_thread + 7, "3", 3}, {2 * a_thread, "16", 2}, {2 * a_thread - 1, "2", 1}};
    for (const auto &[members, threads, launches] : batches) {
        INFO(members << " members, " << threads << " threads");
        const Hints hints(given, threads);
        Mixed many(members, members + (given ? 1 : 0));
        MoveList descs = many.moves.packs();
        forget_counts();
        REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
        CHECK(mock::counts.launches == launches);
        for (const ucd_move_t &d : descs) REQUIRE(d.actual_bytes == d.outcount);
        many.moves.check("by threads");
    }
}

TEST_CASE("a new batch in several threads, in a stream and back") {
    DeviceSession session;
    const Hints hints(true, "2");
    Mixed many(2 * a_thread, 20);
    mock::Stream stream(0);
    for (const bool packs : {true, false}) {
        many.moves.set_up(packs);
        MoveList moves = many.moves.list(packs);
        forget_counts();
        REQUIRE((packs ? start_in(stream, moves, hints) : move_all(moves, hints)) == UCD_SUCCESS);
        CHECK(mock::counts.launches == 2);
        for (const ucd_move_t &m : moves)
            REQUIRE(m.actual_bytes == (packs ? m.outcount : m.incount));
        stream.synchronise();
        many.moves.check(packs ? "in a stream" : "back");
    }
}

TEST_CASE("types that are freed while a batch by threads is under way") {
    DeviceSession session;
    const Hints hints(true, "2");
    constexpr std::size_t members = 2 * a_thread, bytes = 3 * sizeof(double);
    const std::intptr_t places[] = {5, 0, 3};
    Rng rng(1);
    DeviceBuffer typed(rng, {0, 64}, device0), packed(rng, {0, members * bytes}, device0);
    // One for each thread.
    std::vector<BuiltType> types;
    for (int i = 0; i < 2; ++i)
        types.emplace_back(indexed_block(1, {5, 0, 3}, leaf(UCD_TYPE__DOUBLE)));
    MoveList descs;
    for (std::size_t i = 0; i < members; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i * bytes);
        descs.push_back(
            pack_move(typed.real_base(), 1, types[i / a_thread].get(), 0, packed.at(at), bytes));
        for (std::ptrdiff_t k = 0; k < 3; ++k)
            std::copy_n(typed.actual(8 * places[k]), 8, packed.expected(at + 8 * k));
    }
    typed.send();
    packed.send();
    mock::hold();
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(start(descs, &request, hints) == UCD_SUCCESS);
    types.clear();
    mock::let_go();
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    packed.fetch();
    CHECK_FALSE(packed.first_difference());
}

TEST_CASE("wrong members of a batch that threads look at: the first one is named") {
    DeviceSession session;
    const Hints hints(true, "3");
    Mixed many(3 * a_thread, 21);
    MoveList right = many.moves.packs();
    for (const auto &[first, second] :
         {std::pair<std::size_t, std::size_t>{a_thread + 5, 2 * a_thread + 1},
          {7, 3 * a_thread - 1},
          {3 * a_thread - 1, 3 * a_thread - 1},
          {a_thread, a_thread}}) {
        MoveList descs = right;
        descs[first].intype = no_type;
        descs[second].reserved[0] = 1;
        forget_counts();
        CHECK(move_all(descs, hints) == UCD_ERR__INVALID_ARG);
        const std::string number = std::to_string(first);
        INFO(ucd_last_error());
        CHECK(std::string(ucd_last_error()).find(number) != std::string::npos);
        CHECK(mock::counts.launches == 0);
        for (const ucd_move_t &d : descs) REQUIRE(d.actual_bytes == untouched);
    }
    REQUIRE(move_all(right, hints) == UCD_SUCCESS);
    many.moves.check("after wrong ones");
}

TEST_CASE("a batch of which one member's indices are by reference, with threads or without") {
    DeviceSession session;
    struct {
        bool hints;
        std::size_t members;
        const char *threads;
    } const batches[] = {{false, 300, nullptr}, {true, 300, nullptr}, {true, 2 * a_thread, "2"}};
    for (const auto &[given, members, threads] : batches) {
        INFO(members << " members");
        const Hints hints(given, threads);
        Mixed many(members, 22);
        MoveList descs = many.moves.packs();
        MemberByReference member;
        descs.insert(descs.begin() + static_cast<std::ptrdiff_t>(members) - 50,
                     pack_of(member.move()));
        REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
        member.check();
        many.moves.check("beside it");
    }
}

TEST_CASE("a batch for threads of which whole parts move nothing") {
    DeviceSession session;
    const Hints hints(true, "3");
    Mixed many(a_thread, 23);
    const MoveList some = many.moves.packs();
    MoveList descs(3 * a_thread, some.front());
    for (ucd_move_t &d : descs) d.outcount = 0;
    std::copy(some.begin(), some.end(), descs.begin() + a_thread);
    forget_counts();
    REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
    CHECK(mock::counts.launches == 1);
    many.moves.check("the middle");
    for (ucd_move_t &d : descs) d.outcount = 0;
    forget_counts();
    REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
    CHECK(mock::counts.launches == 0);
}

} // namespace hostgpu_threaded_batch_test
