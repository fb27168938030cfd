// How the GPU backends go about batches: launches, tables that are used again, graphs, equal
// shares, faults.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/batch_calls.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <string>
#include <thread>

namespace hostgpu_batch_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

TEST_CASE("a batch is one launch for each device, whatever its members", "[bulk]") {
    DeviceSession session;
    Case one("one launch", 0);
    std::list<Subject> subjects;
    BatchMoves moves(one);
    for (const RecipePtr &recipe : all_forms()) subjects.push_back(make_subject(one, recipe, 1));
    for (int round = 0; round < 300; ++round)
        for (const Subject &s : subjects) {
            if (s.size() > 20000 && round > 0) continue; // the large ones once
            moves.add(s, round % 7, s.size() - static_cast<std::size_t>(round % 7));
        }
    moves.allocate(device0, device0);
    moves.set_up_pack();
    forget_counts();
    REQUIRE(move_all(moves.packs()) == UCD_SUCCESS);
    CHECK(moves.size() > 3000);
    CHECK(mock::counts.launches == 1);
    CHECK(mock::counts.copies == 1); // the table, on its way to the device
    moves.check("many forms");
}

TEST_CASE("threads with batches of their own") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    std::list<Vectors> all;
    for (int i = 0; i < 4; ++i) all.emplace_back(150 + i).moves.set_up_pack();
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (Vectors &v : all)
        threads.emplace_back([&v, &failures, &hints] {
            MoveList descs = v.moves.packs();
            for (std::size_t round = 0; round < 60; ++round) {
                MoveList some = descs;
                some.resize(descs.size() - round % 13);
                failures += move_all(some, hints) != UCD_SUCCESS;
            }
        });
    for (std::thread &thread : threads) thread.join();
    CHECK(failures == 0);
    for (Vectors &v : all) v.moves.check("by a thread");
}

TEST_CASE("graphs keep their batch") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    mock::Stream stream(0);
    for (const int members : {20, 400}) { // with the launch, and in device memory
        Vectors batch(members), others(members + 1);
        const auto capture = [&](MoveList descs, ucd::hostgpu::Graph &graph) {
            int rc = UCD_SUCCESS;
            graph = ucd::hostgpu::captured(stream, [&] { rc = start_in(stream, descs, hints); });
            return rc;
        };
        ucd::hostgpu::Graph graph;
        batch.moves.set_up_pack();
        CHECK(capture(batch.moves.packs(), graph) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("ucd_prepare"));
        CHECK(graph.nodes.empty());
        for (const Subject &s : batch.subjects) prepare(stream, s.type());
        REQUIRE(capture(batch.moves.packs(), graph) == UCD_SUCCESS);
        CHECK(graph.nodes.size() == 1);
        CHECK(graph.kept.size() == (members > 100 ? 1 : 0));
        for (int replay = 0; replay < 3; ++replay) {
            // Other batches use other tables: more of them than are kept for being used again.
            for (int i = 0; i < 10; ++i) {
                MoveList descs = others.moves.packs();
                descs.resize(descs.size() - static_cast<std::size_t>(i));
                REQUIRE(move_all(descs, hints) == UCD_SUCCESS);
            }
            batch.moves.set_up_pack();
            ucd::hostgpu::replay(graph, stream);
            finish_in(stream);
            batch.moves.check("replayed");
        }
        // When a graph has gone, the next call in a stream frees its table: there is memory for one
        // of these at a time.
        for (const Subject &other : others.subjects) prepare(stream, other.type());
        int live = mock::counts.live_allocations;
        for (int i = 0; i < 6; ++i) {
            graph = {};
            MoveList descs = others.moves.packs();
            REQUIRE(start_in(stream, descs, hints) == UCD_SUCCESS);
            stream.synchronise();
            descs.resize(descs.size() - static_cast<std::size_t>(10 + i));
            REQUIRE(capture(descs, graph) == UCD_SUCCESS);
            if (i == 1) live = mock::counts.live_allocations;
        }
        CHECK(mock::counts.live_allocations == live);
    }
}

TEST_CASE("a graph may go after the last ucd_finalize") {
    DeviceSession session;
    {
        mock::Stream stream(0);
        Vectors batch(300);
        for (const Subject &s : batch.subjects) prepare(stream, s.type());
        const ucd::hostgpu::Graph graph = ucd::hostgpu::captured(
            stream, [&] { REQUIRE(start_in(stream, batch.moves.packs()) == UCD_SUCCESS); });
        CHECK(graph.kept.size() == 1);
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        CHECK(mock::counts.live_allocations == 0);
    }
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("batches in streams, whose types go early") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors batch(300);
    batch.moves.set_up_pack();
    mock::hold();
    for (int again = 0; again < 3; ++again) // while the first one's table is on its way
        REQUIRE(start_in(stream, batch.moves.packs()) == UCD_SUCCESS);
    batch.free_types();
    mock::let_go();
    finish_in(stream);
    batch.moves.check("in streams");
}

TEST_CASE("a call in a stream costs no more for all that is under way") {
    DeviceSession session;
    mock::Stream stream(0);
    Vectors few(3);
    few.moves.set_up_pack();
    mock::hold();
    for (int i = 0; i < 200; ++i) REQUIRE(start_in(stream, few.moves.packs()) == UCD_SUCCESS);
    mock::counts.polls = 0;
    for (int i = 0; i < 10; ++i) REQUIRE(start_in(stream, few.moves.packs()) == UCD_SUCCESS);
    CHECK(mock::counts.polls < 100);
    mock::let_go();
    stream.synchronise();
    few.moves.check("many times");
}

TEST_CASE("one stream's batch does not wait for another stream") {
    DeviceSession session;
    mock::Stream busy(0), free(0);
    Vectors batch(300);
    batch.moves.set_up_pack();
    mock::hold();
    REQUIRE(start_in(busy, batch.moves.packs()) == UCD_SUCCESS); // with the table before it
    std::atomic<bool> blocked{true};
    const struct Unblock {
        std::atomic<bool> &blocked;
        ~Unblock() { blocked = false; } // before the streams end, whatever fails
    } unblock{blocked};
    mock::let_go();
    busy.synchronise();
    // Again, behind something that lasts; its table is still on its way when the next one comes.
    Vectors fresh(310);
    fresh.moves.set_up_pack();
    busy.add([&blocked] {
        while (blocked) std::this_thread::yield();
    });
    REQUIRE(start_in(busy, fresh.moves.packs()) == UCD_SUCCESS);
    REQUIRE(start_in(free, fresh.moves.packs()) == UCD_SUCCESS);
    free.synchronise();
    fresh.moves.check("in the free stream");
    blocked = false;
    busy.synchronise();
    batch.moves.check("in the busy stream");
}

TEST_CASE("blocks have equal shares, however different members are") {
    DeviceSession session;
    Case one("shares", 0);
    const Subject small = make_subject(one, vector(16, 1, 2, leaf(UCD_TYPE__DOUBLE)), 1);
    const Subject large = make_subject(one, vector(16000, 1, 2, leaf(UCD_TYPE__DOUBLE)), 1);
    BatchMoves moves(one);
    for (int i = 0; i < 1000; ++i) moves.add(i == 500 ? large : small, 0, i == 500 ? 128000 : 128);
    moves.allocate(device0, device0);
    moves.set_up_pack();
    ucd::hostgpu::stored_by_blocks();
    REQUIRE(move_all(moves.packs()) == UCD_SUCCESS);
    moves.check("shares");
    const std::vector<std::size_t> stored = ucd::hostgpu::stored_by_blocks();
    std::size_t sum = 0;
    for (const std::size_t bytes : stored) {
        CHECK(bytes <= 256 * 16);
        sum += bytes;
    }
    CHECK(sum == moves.bytes_moved());
    // Ends of members take a vector that is not full: at most one more each.
    CHECK(stored.size() <= moves.bytes_moved() / (256 * 16) + 1000 / 256 + 2);
}

TEST_CASE("large batches of members of any length, several vectors a thread", "[bulk]") {
    DeviceSession session;
    Case one("several", 0);
    Rng &rng = one.rng();
    std::list<Subject> subjects;
    const auto add = [&](const RecipePtr &recipe) {
        subjects.push_back(make_subject(one, recipe, 1));
    };
    for (int i = 0; i < 12; ++i) {
        const auto n = 1 + static_cast<std::intptr_t>(rng.below(i % 3 == 0 ? 100 : 2000));
        add(contig(n, leaf(UCD_TYPE__CHAR)));
        add(contig(n, leaf(UCD_TYPE__DOUBLE)));
        add(vector(n / 4 + 1, 2, 3, leaf(UCD_TYPE__DOUBLE)));
        add(vector(n / 4 + 1, 2, 4, leaf(UCD_TYPE__DOUBLE)));
        add(vector(n, 1, 3, leaf(UCD_TYPE__INT)));
    }
    BatchMoves moves(one);
    while (moves.bytes_moved() < 9 << 20)
        for (const Subject &s : subjects) moves.add_range(s);
    moves.allocate(device0, device0);
    moves.set_up_pack();
    ucd::hostgpu::stored_by_blocks();
    REQUIRE(move_all(moves.packs()) == UCD_SUCCESS);
    moves.check("packed");
    const std::vector<std::size_t> stored = ucd::hostgpu::stored_by_blocks();
    CHECK(*std::max_element(stored.begin(), stored.end()) > 256 * 16); // more than a vector each
    moves.set_up_unpack();
    REQUIRE(move_all(moves.unpacks()) == UCD_SUCCESS);
    moves.check("unpacked");
}

TEST_CASE("a cap on blocks, and batches") {
    DeviceSession session;
    ucd::hostgpu::stored_by_blocks();
    Vectors(300).pack_and_check("capped", Keys({{"ucd.max_blocks", "3"}}));
    CHECK(ucd::hostgpu::stored_by_blocks().size() == 3);
}

TEST_CASE("work of a batch that fails, and tables that make way for others") {
    DeviceSession session;
    Vectors batch(300);
    MoveList descs = batch.moves.packs();
    for (int time = 0; time < 4; ++time) { // whether or not a table is uploaded, or is found
        mock::knobs.failing_work = 1;
        CHECK(move_all(descs) == UCD_ERR__DEVICE);
        batch.pack_and_check("after work that failed");
    }
    // Tables that nobody uses make way for others.
    Vectors larger(5000);
    mock::knobs.failing_allocation = 1;
    larger.pack_and_check("in place of another");
}

TEST_CASE("reductions of a batch are one launch for each kind of element") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    // One after the other in memory: 40 elements of 8 bytes each, of up to three kinds by turns.
    // Numbers that are not negative are in the same order as all three.
    constexpr std::size_t members = 300, elements = 40, bytes = elements * sizeof(std::int64_t);
    std::list<BuiltType> types;
    for (const ucd_type_t element : {UCD_TYPE__INT64_T, UCD_TYPE__UINT64_T, UCD_TYPE__DOUBLE})
        types.emplace_back(recipes::vector(elements, 1, 2, recipes::leaf(element)));
    Rng rng(7);
    constexpr std::size_t alignment = 16; // without which it is one kernel for all kinds
    DeviceBuffer in_memory(rng, {0, 2 * bytes * members + alignment}, device0),
        out_memory(rng, {0, bytes * members + alignment}, device0);
    const auto aligned = [](const DeviceBuffer &memory) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory.real_base());
        return reinterpret_cast<char *>((address + alignment - 1) / alignment * alignment);
    };
    char *const in = aligned(in_memory), *const out = aligned(out_memory);
    for (int kinds = 1; kinds <= 3; ++kinds) {
        MoveList descs;
        auto type = types.begin();
        for (std::size_t i = 0; i < members; ++i) {
            descs.push_back(
                pack_move(in + 2 * bytes * i, 1, type->get(), 0, out + bytes * i, bytes));
            if (++type == std::next(types.begin(), kinds)) type = types.begin();
        }
        for (int round = 0; round < 2; ++round) {
            std::vector<std::int64_t> from(2 * elements * members), to(elements * members);
            for (std::int64_t &value : from) value = static_cast<std::int64_t>(rng.below(1000));
            for (std::int64_t &value : to) value = static_cast<std::int64_t>(rng.below(1000));
            mock::write(in, from.data(), 2 * bytes * members);
            mock::write(out, to.data(), bytes * members);
            forget_counts();
            REQUIRE(move_all(descs, hints, UCD_OP__MAX) == UCD_SUCCESS);
            CHECK(mock::counts.launches == kinds);
            CHECK(mock::counts.copies == kinds);
            for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[2 * i]);
            std::vector<std::int64_t> found(to.size());
            mock::read(found.data(), out, bytes * members);
            CHECK(found == to);
        }
    }
}

} // namespace hostgpu_batch_test
