// Batches of many members between every two kinds of memory, on whatever backend the program is
// linked with.
#include "support/catch.hpp"

#include "support/moves/batch_moves.hpp"
#include "support/moves/calls.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <memory>

namespace device_batch_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// Moves all, with and without a request that is waited for; in both directions.
void check_both_ways(Case &one, BatchMoves &moves, Memory typed, Memory packed) {
    moves.allocate(typed, packed);
    for (const bool packs : {true, false}) {
        const char *const what = packs ? "a list of packs" : "a list of unpacks";
        const TrueHints hints(one.rng(), packs ? typed : packed, packs ? packed : typed,
                              moves.engines_can());
        moves.set_up(packs);
        MoveList list = moves.list(packs);
        ucd_request_t request = UCD_REQUEST__NULL;
        one.succeed(start(list, &request, hints.get()), what);
        one.succeed(finish(one.rng(), request), what);
        moves.check(what);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::uintptr_t length = packs ? list[i].outcount : list[i].incount;
            if (list[i].actual_bytes != length || list[i].consumed_bytes != length)
                one.fail("sizes of member ", i, " of ", what);
        }
    }
}

RecipeOptions options_of(std::size_t bytes) {
    RecipeOptions options = device_options(UCD_OP__REPLACE);
    options.max_bytes = bytes;
    options.max_span = 8 * bytes;
    return options;
}

} // namespace

TEST_CASE("batches of random types and ranges between random memories") {
    DeviceSession session;
    run_cases("device batches", 150, [](Case &one) {
        Rng &rng = one.rng();
        use_staging(64 + rng.below(4000), 1 + static_cast<unsigned>(rng.below(4)));
        std::list<Subject> subjects;
        for (std::size_t i = rng.below(10) + 1; i-- > 0;)
            subjects.push_back(random_subject(one, options_of(rng.chance(20) ? 8192 : 256), 3));
        BatchMoves moves(one);
        for (std::size_t i = rng.below(rng.chance(20) ? 300 : 30); i-- > 0;)
            moves.add_range(*std::next(subjects.begin(),
                                       static_cast<std::ptrdiff_t>(rng.below(subjects.size()))));
        check_both_ways(one, moves, random_memory(rng), random_memory(rng));
    });
}

TEST_CASE("batches with members of every form, one of them large, between every two memories") {
    DeviceSession session;
    constexpr std::size_t memories = std::size(all_memories);
    run_cases("forms in a batch", memories * memories, [](Case &one) {
        // Between devices first: those are left when fewer cases are asked for.
        const std::size_t pair = (one.number() + 3 * memories + 3) % (memories * memories);
        const Memory a = all_memories[pair / memories], b = all_memories[pair % memories];
        use_staging(std::size_t{1} << 18, 3);
        std::list<Subject> subjects;
        BatchMoves moves(one);
        const std::vector<RecipePtr> forms = all_forms();
        for (const RecipePtr &recipe : forms) {
            const bool large = recipe == forms.back();
            for (const std::size_t count : {std::size_t{1}, std::size_t{3}}) {
                if (large && count > 1) continue;
                const Subject &s = subjects.emplace_back(make_subject(one, recipe, count));
                if (overlaps(s.bytes)) continue; // no value could be told to be right
                moves.add(s, 0, s.size());
                moves.add_range(s);
                moves.add(s, s.size() / 3, std::min<std::size_t>(s.size() / 2, 5));
            }
        }
        check_both_ways(one, moves, a, b);
    });
}

TEST_CASE("faces, edges and corners of many blocks") {
    DeviceSession session;
    Case one("halos", 0);
    // A block of 12^3 doubles with two layers around it: what each of 26 neighbours gets.
    std::list<Subject> subjects;
    const std::array<std::intptr_t, 3> starts = {2, 2, 12}, lengths = {2, 12, 2};
    for (std::size_t n = 0; n < 27; ++n) {
        const std::array<std::size_t, 3> side = {n / 9, n / 3 % 3, n % 3};
        if (n == 13) continue;
        Ints start, length;
        for (const std::size_t s : side) {
            start.push_back(starts[s]);
            length.push_back(lengths[s]);
        }
        subjects.push_back(make_subject(
            one, subarray({16, 16, 16}, length, start, UCD_ORDER__C, leaf(UCD_TYPE__DOUBLE)), 1));
    }
    BatchMoves moves(one);
    for (int block = 0; block < 12; ++block)
        for (const Subject &s : subjects) moves.add(s, 0, s.size());
    check_both_ways(one, moves, device0, device0);
}

TEST_CASE("pages of a cache: thousands of small members of one type") {
    DeviceSession session;
    Case one("pages", 0);
    const Subject heads = make_subject(one, vector(3, 16, 40, leaf(UCD_TYPE__FLOAT16)), 1);
    const Subject page = make_subject(one, contig(256, leaf(UCD_TYPE__BYTE)), 1);
    BatchMoves moves(one);
    for (int i = 0; i < 5000; ++i) moves.add(i % 3 == 0 ? page : heads, 0, i % 3 == 0 ? 256 : 96);
    check_both_ways(one, moves, device0, device0);
}

TEST_CASE("a batch of some megabytes: threads have several vectors", "[bulk]") {
    DeviceSession session;
    Case one("megabytes", 0);
    const Subject blocks = make_subject(one, vector(1100, 16, 20, leaf(UCD_TYPE__DOUBLE)), 1);
    const Subject odd = make_subject(one, vector(800, 12, 19, leaf(UCD_TYPE__DOUBLE)), 1);
    const Subject listed = make_subject(
        one, indexed_block(512, {0, 2000, 600, 1300}, contig(64, leaf(UCD_TYPE__CHAR))), 2);
    const Subject plain = make_subject(one, contig(16384, leaf(UCD_TYPE__CHAR)), 1);
    const Subject small = make_subject(one, vector(20, 1, 2, leaf(UCD_TYPE__DOUBLE)), 1);
    BatchMoves moves(one);
    for (int i = 0; i < 60; ++i) {
        moves.add(blocks, 0, blocks.size());
        moves.add(odd, 0, odd.size());
        moves.add(plain, 0, plain.size());
        if (i % 8 == 0) moves.add_range(listed);
        if (i % 3 == 0) moves.add_range(small);
    }
    check_both_ways(one, moves, device0, device0);
}

} // namespace device_batch_test
