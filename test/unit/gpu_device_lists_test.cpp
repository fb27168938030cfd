// The lists of plans in the memory of a GPU backend's devices: who may use them, what takes their
// place, and what failures leave behind.
#include "plan/move_range.h"

#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace gpu_device_lists_test {

using namespace ucd;
using namespace ucd::gpu;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

const std::vector<std::int64_t> some{0, 24, 40, 88}, others{0, 16, 64, 80};

std::vector<std::size_t> as_places(const std::vector<std::int64_t> &displacements) {
    return {displacements.begin(), displacements.end()};
}

} // namespace

TEST_CASE("memory for lists whose upload failed is used for the next one") {
    Rng rng(1);
    FreshBackend backend;
    const OwnedLayout layout = listed(8, some);
    const auto plan = backend.plan(layout);
    Member member(*plan, 8, as_places(some));
    member.set_up(rng);
    const std::vector<Move> moves{member.move};
    mock::knobs.failing_allocation = 1;
    CHECK(backend.run(moves).code() == UCD_ERR__OUT_OF_MEM);
    mock::knobs.failing_launch = 1; // the upload
    CHECK(backend.run(moves).code() == UCD_ERR__DEVICE);
    CHECK(mock::counts.allocations == 1);
    REQUIRE(backend.run(moves).ok());
    CHECK(mock::counts.allocations == 1);
    CHECK(member.is_right());
}

TEST_CASE("lists that are in use, or that a graph may use, make no way for others") {
    Rng rng(2);
    FreshBackend backend;
    const OwnedLayout layout = listed(8, some), other_layout = listed(8, others);
    const auto plan = backend.plan(layout), other_plan = backend.plan(other_layout);
    Member member(*plan, 8, as_places(some)), other(*other_plan, 8, as_places(others));
    member.set_up(rng);
    other.set_up(rng);
    const std::vector<Move> moves{member.move}, other_moves{other.move};
    mock::hold();
    Owner<Event> done;
    const Status started = backend->launch(0, moves, done);
    mock::knobs.out_of_memory = true;
    std::vector<int> codes;
    for (int time = 0; time < 3; ++time) codes.push_back(backend.run(other_moves).code());
    mock::let_go();
    REQUIRE(started.ok());
    REQUIRE(FreshBackend::wait(done).ok());
    done.reset();
    CHECK(codes == std::vector<int>(3, UCD_ERR__OUT_OF_MEM));
    CHECK(member.is_right());
    // Now they are not in use.
    REQUIRE(backend.run(other_moves).ok());
    CHECK(other.is_right());
    Capture capture;
    REQUIRE(backend->prepare(capture.native(), other.move).ok());
    for (int time = 0; time < 3; ++time) CHECK(backend.run(moves).code() == UCD_ERR__OUT_OF_MEM);
}

TEST_CASE("of lists that are not in use, those make way first that were not used lately") {
    Rng rng(7);
    FreshBackend backend;
    std::list<OwnedLayout> layouts;
    std::list<Owner<KernelPlan>> plans;
    std::vector<std::unique_ptr<Member>> members;
    for (std::int64_t i = 0; i < 5; ++i) {
        const std::vector<std::int64_t> displacements{0, 24 + 8 * i, 80, 120};
        const OwnedLayout &layout = layouts.emplace_back(listed(8, displacements));
        const auto &plan = plans.emplace_back(backend.plan(layout));
        members.push_back(std::make_unique<Member>(*plan, 8, as_places(displacements)));
    }
    const auto uploads = [&](std::size_t i) {
        members[i]->set_up(rng);
        (void)uploaded_bytes();
        REQUIRE(backend.run(std::vector<Move>{members[i]->move}).ok());
        CHECK(members[i]->is_right());
        return uploaded_bytes() > 0;
    };
    for (const std::size_t i : {0, 1, 2}) CHECK(uploads(i));
    mock::knobs.out_of_memory = true;
    CHECK(uploads(3)); // in the place of 0, the oldest: all were used
    CHECK_FALSE(uploads(1));
    CHECK(uploads(4)); // in the place of 2
    CHECK_FALSE(uploads(1));
    CHECK(uploads(2));
}

TEST_CASE("a launch waits for lists that are on their way, and no longer") {
    Rng rng(3);
    FreshBackend backend;
    const OwnedLayout layout = listed(8, some);
    const auto plan = backend.plan(layout);
    std::list<Member> members;
    std::vector<Owner<Event>> done(20);
    slow_uploads = true;
    for (Owner<Event> &each : done) {
        Member &member = members.emplace_back(*plan, 8, as_places(some));
        member.set_up(rng);
        REQUIRE(backend->launch(0, std::vector<Move>{member.move}, each).ok());
    }
    slow_uploads = false;
    for (const Owner<Event> &each : done) REQUIRE(FreshBackend::wait(each).ok());
    for (const Member &member : members) CHECK(member.is_right());
}

TEST_CASE("preparing waits for lists that are on their way") {
    Rng rng(6);
    FreshBackend backend;
    const OwnedLayout layout = listed(8, some);
    const auto plan = backend.plan(layout);
    Member member(*plan, 8, as_places(some));
    member.set_up(rng);
    mock::Stream stream(0);
    slow_uploads = true;
    const Status prepared = backend->prepare(NativeStream{0, &stream, nullptr}, member.move);
    slow_uploads = false;
    REQUIRE(prepared.ok());
    REQUIRE(backend.run(std::vector<Move>{member.move}).ok());
    CHECK(member.is_right());
}

TEST_CASE_METHOD(OnBackend,
                 "memory of lists that are gone is for others of its size, or of half of it") {
    // The number of entries, of 4 bytes each.
    const auto use_list = [&](std::int64_t entries) {
        std::vector<std::int64_t> displacements;
        for (std::int64_t i = 0; i < entries; ++i) displacements.push_back(24 * i + i % 2 * 8);
        const OwnedLayout layout = listed(8, displacements);
        const auto plan = backend.plan(layout);
        Member member(*plan, 8, as_places(displacements));
        Rng rng(4);
        member.set_up(rng);
        mock::counts.allocations = 0;
        REQUIRE(backend.run(std::vector<Move>{member.move}).ok());
        CHECK(member.is_right());
        return mock::counts.allocations.load();
    };
    CHECK(use_list(128) == 1); // 512 bytes
    CHECK(use_list(100) == 0);
    CHECK(use_list(129) == 1); // 1024
    CHECK(use_list(256) == 0);
    CHECK(use_list(512) == 1); // 2048
    CHECK(use_list(257) == 0); // of 1536, in them
    CHECK(use_list(513) == 1);
}

TEST_CASE("memory of twice the size is used, and more is not") {
    for (const bool twice : {true, false}) {
        FreshBackend backend;
        const OwnedLayout large_layout = listed(8, [&] {
            std::vector<std::int64_t> displacements;
            for (std::int64_t i = 0; i < (twice ? 256 : 384); ++i)
                displacements.push_back(24 * i + i % 2 * 8);
            return displacements;
        }());
        const OwnedLayout layout = listed(8, some);
        {
            const auto plan = backend.plan(large_layout);
            Capture capture;
            REQUIRE(backend->prepare(capture.native(), move_of(*plan, nullptr, nullptr, 0)).ok());
        }
        const auto plan = backend.plan(layout);
        Member member(*plan, 8, as_places(some));
        Rng rng(5);
        member.set_up(rng);
        mock::counts.allocations = 0;
        REQUIRE(backend.run(std::vector<Move>{member.move}).ok());
        CHECK(member.is_right());
        CHECK(mock::counts.allocations == (twice ? 0 : 1));
    }
}

// Prepared for one repetition, which a nest moves; so many need the lists of another kernel. They
// have no memory, so that their own launch fails at once. The captured one makes their lists stay.
TEST_CASE_METHOD(OnBackend, "a graph makes those of its lists stay that nothing prepared") {
    const OwnedLayout layout = listed(8, some);
    const auto plan = backend.plan(layout, 96, true);
    Move move = move_of(*plan, reinterpret_cast<char *>(std::uintptr_t{1} << 44),
                        reinterpret_cast<char *>(std::uintptr_t{1} << 45), 32);
    Capture capture;
    REQUIRE(backend->prepare(capture.native(), move).ok());
    REQUIRE(backend->launch_in(capture.native(), std::vector<Move>{move}, nullptr).ok());
    move.from.count = max_positions;
    move.length = 32 * max_positions;
    for (int time = 0; time < 3; ++time)
        CHECK(backend.run(std::vector<Move>{move}).code() == UCD_ERR__DEVICE);
    for (int time = 0; time < 2; ++time)
        CHECK(backend->launch_in(capture.native(), std::vector<Move>{move}, nullptr).ok());
    CHECK(capture.end() == 3);
}

TEST_CASE_METHOD(
    OnBackend, "preparing makes ready for as many positions as there are, whatever the alignment") {
    const OwnedLayout layout = listed(4, {0, 8, 24, 40}); // 16 bytes
    const auto plan = backend.plan(layout, 48, true);
    const uint64_t count = max_positions / 16 - 1;
    Move move = move_of(*plan, nullptr, nullptr, 16 * count, Direction::pack, count);
    Capture capture;
    REQUIRE(backend->prepare(capture.native(), move).ok());
    for (const std::uintptr_t odd : {0, 1}) {
        move.from.address = reinterpret_cast<char *>((std::uintptr_t{1} << 44) + odd);
        move.to.address = reinterpret_cast<char *>((std::uintptr_t{1} << 45) + odd);
        (void)kernels_launched();
        CHECK(backend->launch_in(capture.native(), std::vector<Move>{move}, nullptr).ok());
        const std::vector<std::string> kernels = kernels_launched();
        REQUIRE(kernels.size() == 1);
        CHECK((kernels[0] == "pack_interpreter") == (odd == 1));
    }
}

} // namespace gpu_device_lists_test
