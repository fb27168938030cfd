// Lists of moves as GPU backends get them: what becomes one launch, whose failures are told, and
// what tables take of memory.
#include "kernels/batch_kernels.h"
#include "launch/batch_table_builder.h"

#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <vector>

namespace gpu_batches_test {

using namespace ucd;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

std::vector<Move> moves_of(const std::list<Member> &members) {
    std::vector<Move> moves;
    for (const Member &member : members) moves.push_back(member.move);
    return moves;
}

// Makes moves that differ in their addresses only, and counts how often it makes each. Fails where
// `good` of them are made.
class CountingMaker final : public MoveMakerOf<CountingMaker> {
public:
    explicit CountingMaker(std::vector<Move> moves, std::size_t good = SIZE_MAX, unsigned parts = 1)
        : moves_(std::move(moves)), good_(good), made(moves_.size()) {
        const std::size_t each = moves_.size() / parts;
        for (unsigned i = 0; parts > 1 && i < parts; ++i)
            parts_.emplace_back(std::vector<Move>(&moves_[i * each], &moves_[i * each] + each));
    }

    std::size_t members() const { return moves_.size(); }
    Status make(std::size_t &first, Move &move, MoveAddresses *at, std::size_t room,
                std::size_t &count) {
        count = 0;
        for (; first < moves_.size() && count < room; ++first) {
            if (first == good_) return fail(UCD_ERR__INVALID_ARG, "member %zu is wrong", first);
            const Move &next = moves_[first];
            if (count > 0 && next.length != move.length) break;
            move = next;
            at[count++] = {next.from.address, next.to.address};
            ++made[first];
        }
        return success;
    }
    Status divide(unsigned &parts) {
        parts = std::max(static_cast<unsigned>(parts_.size()), 1u);
        return success;
    }
    MoveMaker *part(unsigned i) { return &parts_[i]; }
    Status unite() { return success; }

private:
    std::vector<Move> moves_;
    const std::size_t good_;
    std::deque<CountingMaker> parts_; // one for each thread, if they are several

public:
    std::vector<int> made;
};

char *nowhere(std::size_t number) {
    return reinterpret_cast<char *>(std::uintptr_t{1} << 20 | number << 40);
}

} // namespace

TEST_CASE("a list of all kinds of moves is a launch for each kind, and each failure is told") {
    Rng rng(1);
    for (int nth = 1; nth <= 9; ++nth) {
        FreshBackend backend;
        const OwnedLayout layout = strided(4, 40, 12), block = block_of(100);
        const auto plan = backend.plan(layout), block_plan = backend.plan(block);
        std::list<Member> members;
        for (int i = 0; i < 3; ++i) members.emplace_back(*plan, 4, steps(40, 12));
        for (int i = 0; i < 2; ++i)
            members.emplace_back(*plan, 4, steps(40, 12), Direction::unpack);
        members.emplace_back(*plan, 4, steps(40, 12)).move.limits.engine = Engine::dma;
        for (int i = 0; i < 2; ++i)
            members.emplace_back(*block_plan, 100, steps(1, 100)).move.limits.engine = Engine::dma;
        for (int i = 0; i < 3; ++i) {
            Move &move = members.emplace_back(*plan, 4, steps(40, 12)).move;
            move.op = Op::sum;
            move.elements = &unsigned_ints;
        }
        for (Member &member : members) member.set_up(rng);
        (void)kernels_launched();
        std::vector<Move> moves = moves_of(members);
        rng.shuffle(moves);
        mock::knobs.failing_launch = nth;
        plain_copy_calls = 0;
        const Status status = backend.run(moves);
        INFO("launch or copy " << nth);
        if (mock::knobs.failing_launch == 0) {
            CHECK(status.code() == UCD_ERR__DEVICE);
            continue;
        }
        // The table of the reductions, and what an engine copies: rows, and two blocks.
        CHECK(nth == 8);
        CHECK(status.ok());
        CHECK(kernels_launched().size() == 3);
        CHECK(mock::counts.copies == 4);
        CHECK(plain_copy_calls == 1);
        for (const Member &member : members) CHECK(member.is_right());
        return;
    }
    FAIL("no end");
}

TEST_CASE_METHOD(OnBackend, "packs that are too many bytes for one launch are as few as can be") {
    // Vectors of 2^31 - 32 bytes, of which eight are all that a launch takes; these are not run.
    const OwnedLayout layout = strided(8, 4, 16);
    const auto plan = backend.plan(layout, 64, true);
    std::vector<Move> moves(16);
    for (std::size_t i = 0; i < moves.size(); ++i)
        moves[i] = move_of(*plan, nowhere(i), nowhere(i + 100), max_positions - 32, Direction::pack,
                           uint64_t{1} << 26);
    Capture capture;
    REQUIRE(backend->prepare(capture.native(), moves[0]).ok());
    (void)parameters_launched();
    REQUIRE(backend->launch_in(capture.native(), moves, nullptr).ok());
    CHECK(capture.end() == 2);
    for (const std::vector<char> &bytes : parameters_launched()) {
        REQUIRE(bytes.size() == sizeof(SmallBatchParams));
        BatchSections sections;
        std::memcpy(&sections, bytes.data(), sizeof sections);
        CHECK(sections.vectors == 8 * (max_positions - 32) / vector_bytes);
    }
}

TEST_CASE("moves that a maker makes are made once, if they fit a table") {
    Rng rng(2);
    FreshBackend backend;
    const OwnedLayout layout = strided(8, 5, 24);
    const auto plan = backend.plan(layout);
    std::list<Member> members;
    for (int i = 0; i < 300; ++i) {
        members.emplace_back(*plan, 8, steps(5, 24)).set_up(rng);
        if (i % 70 == 0) members.back().restrict(1, 4), members.back().set_up(rng);
    }
    CountingMaker maker(moves_of(members));
    (void)kernels_launched();
    REQUIRE(backend.run(maker).ok());
    CHECK(kernels_launched() == std::vector<std::string>{"pack_batch"});
    CHECK(std::count(maker.made.begin(), maker.made.end(), 1) == 300);
    for (const Member &member : members) REQUIRE(member.is_right());
    // Few travel with the launch.
    std::vector<Move> few = moves_of(members);
    few.resize(20);
    CountingMaker few_made(few);
    mock::counts.copies = 0;
    REQUIRE(backend.run(few_made).ok());
    CHECK(kernels_launched() == std::vector<std::string>{"pack_small_batch"});
    CHECK(mock::counts.copies == 0);
}

TEST_CASE("a batch of which a move cannot be made waits for nothing in its stream") {
    Rng rng(9);
    const OwnedLayout layout = strided(8, 5, 24);
    for (int nth = 1;; ++nth) {
        FreshBackend backend;
        const auto plan = backend.plan(layout);
        Member member(*plan, 8, steps(5, 24));
        member.set_up(rng);
        REQUIRE(backend.run(std::vector<Move>{member.move}).ok());
        CountingMaker maker(std::vector<Move>(300, member.move), 200);
        failing_call = nth;
        CHECK_FALSE(backend.run(maker).ok());
        if (failing_call.exchange(0) > 0) break;
        CHECK(refused_call.load() != std::string("gpuStreamSynchronize"));
    }
}

TEST_CASE("each call of the runtime fails once: a list with a table") {
    Rng rng(11);
    const OwnedLayout layout = strided(4, 40, 12);
    for (const Op op : {Op::replace, Op::sum}) {
        int refused = 0;
        for (bool all_called = false; !all_called; ++refused) {
            FreshBackend backend;
            const auto plan = backend.plan(layout);
            std::list<Member> members;
            for (int i = 0; i < 100; ++i) {
                Move &move = members.emplace_back(*plan, 4, steps(40, 12)).move;
                move.op = op;
                move.elements = op == Op::sum ? &unsigned_ints : nullptr;
                members.back().set_up(rng);
            }
            failing_call = refused + 1;
            const Status status = backend.run(moves_of(members));
            all_called = failing_call.exchange(0) > 0;
            INFO("call " << refused + 1 << ", " << refused_call.load());
            if (all_called) CHECK(status.ok());
            if (!status.ok()) continue;
            for (const Member &member : members) REQUIRE(member.is_right());
        }
        CHECK(refused > 5);
    }
}

TEST_CASE("a batch of several launches of which one fails waits for those before it") {
    Rng rng(10);
    const OwnedLayout layout = strided(8, 5, 24);
    for (int failing = 1; failing <= 4; ++failing) { // an upload and a launch of each half
        FreshBackend backend;
        const auto plan = backend.plan(layout);
        std::list<Member> members;
        for (int i = 0; i < 600; ++i) members.emplace_back(*plan, 8, steps(5, 24)).set_up(rng);
        CountingMaker halves(moves_of(members), SIZE_MAX, 2);
        mock::knobs.delay_us = 20000;
        mock::knobs.failing_launch = failing;
        ucd::Owner<ucd::Event> done;
        CHECK(backend->launch_made(0, halves, done).code() == UCD_ERR__DEVICE);
        mock::knobs.delay_us = 0;
        int right = 0;
        for (const Member &member : members) right += member.is_right();
        CHECK(right == (failing <= 2 ? 0 : 300));
    }
}

TEST_CASE("narrow words of a batch are unpacked from where its range begins in a vector") {
    Rng rng(8);
    FreshBackend backend;
    const OwnedLayout layout = strided(1, 3000, 3);
    const auto plan = backend.plan(layout);
    for (const std::size_t odd : {0, 1, 2, 15}) {
        std::list<Member> members;
        for (const std::size_t first : {16, 0, 32}) {
            members.emplace_back(*plan, 1, steps(3000, 3), Direction::unpack, odd);
            members.back().restrict(first, 3000);
            members.back().set_up(rng);
        }
        REQUIRE(backend.run(moves_of(members)).ok());
        for (const Member &member : members) CHECK(member.is_right());
    }
}

TEST_CASE("a batch of blocks needs no lists") {
    Rng rng(7);
    FreshBackend backend;
    const OwnedLayout layout = block_of(100);
    const auto plan = backend.plan(layout);
    std::list<Member> members;
    for (std::size_t i = 0; i < 150; ++i)
        members.emplace_back(*plan, 100, steps(1, 100), Direction::unpack, i % 5).set_up(rng);
    (void)uploaded_bytes();
    REQUIRE(backend.run(moves_of(members)).ok());
    CHECK(uploaded_bytes() == 0);
    for (const Member &member : members) REQUIRE(member.is_right());
}

// It has no memory, so that its own launch fails at once.
TEST_CASE("a move with more bytes than positions is a launch beside the others") {
    Rng rng(3);
    for (const bool most : {false, true}) {
        FreshBackend backend;
        const OwnedLayout layout = strided(8, 5, 24), large = strided(8, 4, 16);
        const auto plan = backend.plan(layout), large_plan = backend.plan(large, 64, true);
        std::list<Member> members;
        for (int i = 0; i < 200; ++i) members.emplace_back(*plan, 8, steps(5, 24)).set_up(rng);
        std::vector<Move> moves = moves_of(members);
        moves.insert(moves.begin() + 90,
                     move_of(*large_plan, nowhere(1), nowhere(2), max_positions - (most ? 0 : 16),
                             Direction::pack, uint64_t{1} << 27));
        CountingMaker maker(moves);
        (void)kernels_launched();
        CHECK(backend.run(maker).code() == UCD_ERR__DEVICE);
        const std::vector<std::string> kernels = kernels_launched();
        REQUIRE(kernels.size() == (most ? 2 : 1));
        CHECK(kernels.back() == "pack_batch");
        if (most)
            for (const Member &member : members) REQUIRE(member.is_right());
    }
}

TEST_CASE_METHOD(OnBackend, "a table is written where it is uploaded from, whatever it takes") {
    const OwnedLayout layout = strided(16, 31, 32);
    const auto plan = backend.plan(layout);
    Rng rng(4);
    Member member(*plan, 16, steps(31, 32));
    member.set_up(rng);
    const std::vector<Move> moves(1300, member.move); // the same, again and again
    REQUIRE(backend.run(moves).ok());
    CHECK(member.is_right());
    CHECK(mock::counts.allocations == 2); // on the device, and in pinned memory
    // The next one has the same memory.
    member.set_up(rng);
    REQUIRE(backend.run(moves).ok());
    CHECK(member.is_right());
    CHECK(mock::counts.allocations == 2);
}

TEST_CASE("a batch finds the lists of its members wherever they come to be") {
    Rng rng(6);
    FreshBackend backend;
    const OwnedLayout layout = listed(8, {0, 24, 40, 88}),
                      other_layout = listed(8, {0, 16, 64, 80});
    const auto plan = backend.plan(layout), other_plan = backend.plan(other_layout);
    std::list<Member> members;
    for (int i = 0; i < 150; ++i)
        members.emplace_back(*plan, 8, std::vector<std::size_t>{0, 24, 40, 88});
    Member other(*other_plan, 8, {0, 16, 64, 80});
    const std::vector<Move> moves = moves_of(members);
    const auto run = [&] {
        for (Member &member : members) member.set_up(rng);
        REQUIRE(backend.run(moves).ok());
        for (const Member &member : members) REQUIRE(member.is_right());
    };
    run();
    // Another plan's lists take the place of theirs, which come elsewhere the next time.
    other.set_up(rng);
    mock::knobs.out_of_memory = true;
    REQUIRE(backend.run(std::vector<Move>{other.move}).ok());
    CHECK(other.is_right());
    mock::knobs.out_of_memory = false;
    // Where theirs do not come, nothing is launched.
    (void)kernels_launched();
    mock::knobs.failing_launch = 1; // the upload of the lists
    CHECK(backend.run(moves).code() == UCD_ERR__DEVICE);
    CHECK(mock::knobs.failing_launch == 0);
    CHECK(kernels_launched().empty());
    run();
}

TEST_CASE_METHOD(OnBackend, "a graph has a table of its own, once the plan is prepared") {
    const OwnedLayout layout = strided(8, 5, 24);
    const auto plan = backend.plan(layout);
    Member member(*plan, 8, steps(5, 24));
    const std::vector<Move> moves(300, member.move);
    Capture capture;
    CHECK(backend->launch_in(capture.native(), moves, nullptr).code() == UCD_ERR__NOT_SUPPORTED);
    REQUIRE(backend->prepare(capture.native(), member.move).ok());
    (void)uploaded_bytes();
    CHECK(backend->launch_in(capture.native(), moves, nullptr).ok());
    CHECK(uploaded_bytes() > 0); // now, and by no replay
    CHECK(capture.end() == 1);
}

TEST_CASE("what a captured launch needs lives as long as the backend if graphs keep nothing") {
    Rng rng(5);
    auto backend = std::make_unique<FreshBackend>();
    const OwnedLayout layout = listed(8, {0, 24, 40, 88});
    const std::shared_ptr<KernelPlan> plan = backend->plan(layout);
    std::list<Member> members;
    for (int i = 0; i < 150; ++i)
        members.emplace_back(*plan, 8, std::vector<std::size_t>{0, 24, 40, 88});
    struct Needs {
        std::shared_ptr<KernelPlan> plan;
        Owner<PreparedLaunch> prepared; // goes first
    };
    auto keep = std::make_shared<Needs>(Needs{plan, nullptr});
    REQUIRE((*backend)->prepare_launch(0, moves_of(members), keep->prepared).ok());
    const std::weak_ptr<Needs> kept = keep;
    mock::Stream stream(0);
    begin_capture(stream);
    graphs_keep_nothing = true;
    REQUIRE((*backend)
                ->launch_prepared_in(NativeStream{0, &stream, nullptr}, *keep->prepared,
                                     KeepOf(std::shared_ptr(keep)))
                .ok());
    graphs_keep_nothing = false;
    keep.reset();
    {
        const Graph graph = end_capture(stream);
        for (Member &member : members) member.set_up(rng);
        replay(graph, stream);
        stream.synchronise();
        for (const Member &member : members) REQUIRE(member.is_right());
    }
    CHECK_FALSE(kept.expired());
    backend.reset();
    CHECK(kept.expired());
}

TEST_CASE_METHOD(OnBackend,
                 "a table has as much as it says for each member, and about four starts to one") {
    const OwnedLayout layout = strided(8, 128, 16);
    const auto plan = backend.plan(layout);
    Member member(*plan, 8, steps(128, 16));
    for (const std::size_t members : {1, 2, 3, 4, 100, 1000}) {
        std::vector<char> memory(100 * members + 10000);
        // Of a member's 64 vectors, or of one.
        for (const std::size_t length : {std::size_t{1024}, std::size_t{16}})
            for (const Starts starts : {Starts::few, Starts::many}) {
                OpenDevices devices;
                const OnDevice at_device(devices, 0);
                REQUIRE(at_device.status.ok());
                LaunchNeeds needs;
                LaunchTarget to(at_device.device(), nullptr, LaunchState::empty, needs);
                BatchTableBuilder builder;
                builder.begin(members, {memory.data(), memory.size()});
                CHECK(builder.bytes() == BatchTableBuilder::bytes_of_members(members));
                member.move.length = length;
                const MoveAddresses at{member.move.from.address, member.move.to.address};
                for (std::size_t i = 0; i < members; ++i)
                    REQUIRE(builder.add(to, member.move, {&at, 1}).ok());
                builder.finish(starts);
                const BatchSections &sections = builder.sections();
                CHECK(sections.vectors == members * length / vector_bytes);
                CHECK(sections.granule < 31); // kernels shift by it
                if (length == 1024) CHECK(sections.granule == (starts == Starts::few ? 7 : 4));
                if (length == 16) CHECK(sections.granule == (starts == Starts::few ? 1 : 0));
                CHECK(builder.bytes() <= memory.size());
            }
    }
}

} // namespace gpu_batches_test
