// Launches that a GPU backend prepares, and copies of any range of two layouts, as the frontend
// asks for them: against the type map, with gaps and guards.
#include "support/catch.hpp"

#include "per_thread.h"

#include "support/moves/backend_lists.hpp"
#include "support/random/random_layouts.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace hostgpu_prepared_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using ucd::Move, ucd::MoveList, ucd::PreparedLaunch;
using enum ucdtest::Memory;

namespace {

RecipeOptions options_for_moves() {
    RecipeOptions options = device_options(UCD_OP__REPLACE);
    options.index_memory = [](Rng &, const std::vector<std::byte> &bytes) {
        return copy_in(device0, bytes);
    };
    return options;
}

// Arrays of totals whose divisors fit into each other in many ways, in words or in bytes.
RecipePtr random_array(Rng &rng) {
    const RecipePtr element =
        leaf(rng.pick(std::vector<ucd_type_t>{UCD_TYPE__BYTE, UCD_TYPE__INT, UCD_TYPE__DOUBLE}));
    const std::intptr_t total = std::intptr_t{3} << rng.between(2, 6);
    return random_strides(rng, total, element, 8 * rng.between(1, 2));
}

} // namespace

TEST_CASE("any range of a copy from layout to layout") {
    run_cases("any range of a copy", 1500, [](Case &one) {
        OwnBackend backend;
        Rng &rng = one.rng();
        const RecipeOptions options = options_for_moves();
        const auto planned = [&](const char *role) {
            if (rng.chance(30))
                return Planned(backend, random_nonempty_subject(one, options, 5, role));
            const auto count = static_cast<std::size_t>(rng.between(1, 3));
            return Planned(backend, make_subject(one, random_array(rng), count, role));
        };
        const Planned from = planned("source"), to = planned("target");
        TestList list;
        for (int i = 0; i < 4; ++i) list.members.emplace_back(one, from, to);
        list.note();
        for (TestMove &member : list.members) {
            member.set_up();
            REQUIRE(backend.run(std::span(&member.move, 1)).ok());
            member.check("by itself");
        }
        list.set_up();
        REQUIRE(backend.run(list.moves).ok());
        list.check("with others");
    });
}

TEST_CASE("prepared lists are moved again and again, in streams and in graphs") {
    run_cases("prepared lists", 300, [](Case &one) {
        OwnBackend backend;
        Rng &rng = one.rng();
        const RecipeOptions options = options_for_moves();
        std::list<Planned> types;
        for (int i = 0; i < 3; ++i)
            types.emplace_back(backend, random_nonempty_subject(one, options));
        const auto any = [&]() -> const Planned & {
            return *std::next(types.begin(), static_cast<std::ptrdiff_t>(rng.below(3)));
        };
        TestList list;
        const std::size_t members = 1 + rng.mostly_small(rng.chance(10) ? 150 : 12);
        for (std::size_t i = 0; i < members; ++i) {
            const std::size_t kind = rng.below(3);
            if (kind == 2)
                list.members.emplace_back(one, any(), any());
            else
                list.members.emplace_back(
                    one, any(), kind == 0 ? ucd::Direction::pack : ucd::Direction::unpack);
        }
        list.note();
        ucd::Owner<PreparedLaunch> prepared;
        list.set_up();
        ucd::hostgpu::slow_uploads = one.number() % 8 == 0; // some milliseconds each
        REQUIRE(backend->prepare_launch(0, list.moves, prepared).ok());
        ucd::hostgpu::slow_uploads = false;
        mock::Stream stream(0);
        const ucd::NativeStream native{0, &stream, nullptr};
        ucd::hostgpu::begin_capture(stream);
        REQUIRE(backend->launch_prepared_in(native, *prepared, nullptr).ok());
        const ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
        mock::counts.copies = mock::counts.allocations = 0;
        (void)ucd::hostgpu::uploaded_bytes();
        const int uploads = mock::counts.copies; // blocks are copied by copies
        for (int round = 0; round < 3; ++round) {
            if (round > 0) list.set_up();
            switch (rng.below(3)) {
            case 0: REQUIRE(backend.run(*prepared).ok()); break;
            case 1: REQUIRE(backend->launch_prepared_in(native, *prepared, nullptr).ok()); break;
            default: ucd::hostgpu::replay(graph, stream);
            }
            stream.synchronise();
            list.check("prepared");
        }
        CHECK(mock::counts.allocations == 0);
        CHECK(ucd::hostgpu::uploaded_bytes() == 0);
        if (!list.is_one_pack()) CHECK(mock::counts.copies == uploads);
    });
}

TEST_CASE("a prepared list of one direction is one launch and no upload, and kinds are one each") {
    Case one("one launch", 0);
    OwnBackend backend;
    const RecipePtr element = leaf(UCD_TYPE__DOUBLE);
    std::list<Planned> types;
    for (int i = 0; i < 4; ++i)
        types.emplace_back(backend, make_subject(one, vector(20 + i, 2, 5 + i, element), 1));
    const auto launches = [&](bool packs, bool unpacks, bool copies) {
        TestList list;
        for (int i = 0; i < 256; ++i) {
            const Planned &type = *std::next(types.begin(), i % 4);
            if (packs) list.members.emplace_back(one, type, ucd::Direction::pack);
            if (unpacks) list.members.emplace_back(one, type, ucd::Direction::unpack);
            // Of whole types, whose kernel is the same.
            if (copies) {
                const Planned &same = types.front();
                Move &copy = list.members.emplace_back(one, same, same).move;
                copy.from.offset = copy.to.offset = 0;
                copy.length = same.subject.size();
            }
        }
        list.note();
        ucd::Owner<PreparedLaunch> prepared;
        REQUIRE(backend->prepare_launch(0, list.moves, prepared).ok());
        (void)ucd::hostgpu::kernels_launched();
        mock::counts.copies = mock::counts.allocations = 0;
        (void)ucd::hostgpu::uploaded_bytes();
        for (int round = 0; round < 2; ++round) REQUIRE(backend.run(*prepared).ok());
        CHECK(mock::counts.copies == 0);
        CHECK(mock::counts.allocations == 0);
        CHECK(ucd::hostgpu::uploaded_bytes() == 0);
        const std::string names = ucd::hostgpu::names_launched();
        return 1 + std::count(names.begin(), names.end(), ',');
    };
    CHECK(launches(true, false, false) == 2);
    CHECK(launches(false, true, false) == 2);
    CHECK(launches(true, true, false) == 4);
    CHECK(launches(true, true, true) >= 6);
}

TEST_CASE("what a prepared launch needs lives as long as its work, and as its graphs") {
    Case one("kept", 0);
    OwnBackend backend;
    auto planned = std::make_shared<Planned>(backend, make_subject(one, a_list(), 1));
    TestList list;
    for (int i = 0; i < 150; ++i) list.members.emplace_back(one, *planned, ucd::Direction::pack);
    list.note();
    struct Needs {
        std::shared_ptr<Planned> type;
        ucd::Owner<PreparedLaunch> prepared; // goes first
    };
    auto keep = std::make_shared<Needs>();
    keep->type = planned;
    REQUIRE(backend->prepare_launch(0, list.moves, keep->prepared).ok());
    mock::Stream stream(0);
    const ucd::NativeStream native{0, &stream, nullptr};
    const std::weak_ptr<Needs> kept = keep;
    const auto next_call = [&] {
        REQUIRE(
            backend->launch_in(native, std::vector<Move>(), ucd::KeepOf(std::shared_ptr(planned)))
                .ok());
    };
    SECTION("in a stream") {
        list.set_up();
        mock::hold();
        REQUIRE(
            backend->launch_prepared_in(native, *keep->prepared, ucd::KeepOf(std::shared_ptr(keep)))
                .ok());
        keep.reset();
        next_call();
        CHECK_FALSE(kept.expired());
        mock::let_go();
        stream.synchronise();
        list.check("kept by a stream");
        next_call();
        CHECK(kept.expired());
    }
    SECTION("in a graph") {
        ucd::hostgpu::begin_capture(stream);
        REQUIRE(
            backend->launch_prepared_in(native, *keep->prepared, ucd::KeepOf(std::shared_ptr(keep)))
                .ok());
        keep.reset();
        {
            const ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
            // Others take and give back memory meanwhile.
            TestList others;
            for (int i = 0; i < 150; ++i)
                others.members.emplace_back(one, *planned, ucd::Direction::unpack);
            others.note();
            for (int round = 0; round < 3; ++round) {
                others.set_up();
                REQUIRE(backend.run(others.moves).ok());
                others.check("others");
                list.set_up();
                ucd::hostgpu::replay(graph, stream);
                stream.synchronise();
                list.check("kept by a graph");
            }
            next_call();
            CHECK_FALSE(kept.expired());
        }
        // The driver says that the graph goes, where nothing may be freed; the next call frees it.
        CHECK_FALSE(kept.expired());
        next_call();
        CHECK(kept.expired());
    }
}

TEST_CASE("what threads that have ended keep is released by the calls of another one") {
    OwnBackend backend;
    mock::Stream stream(0);
    const ucd::NativeStream native{0, &stream, nullptr};
    const auto call = [&](const ucd::Keep &keep) {
        return backend->launch_in(native, std::vector<Move>(), keep).ok();
    };
    // One of them may share this thread's part of what is kept.
    std::vector<std::weak_ptr<int>> kept;
    for (int i = 0; i < 3; ++i) {
        auto keep = std::make_shared<int>(i);
        kept.push_back(keep);
        bool called = false;
        std::thread([&] { called = call(ucd::KeepOf(std::move(keep))); }).join();
        REQUIRE(called);
    }
    stream.synchronise();
    const auto expired = [&] {
        return std::count_if(kept.begin(), kept.end(), [](const auto &k) { return k.expired(); });
    };
    const ucd::KeepOf other(std::make_shared<int>(0));
    REQUIRE(call(other));
    CHECK(expired() <= 1);
    // Every 64th call looks at another part.
    for (std::size_t i = 0; i < 64 * ucd::thread_parts; ++i) REQUIRE(call(other));
    CHECK(expired() == 3);
}

TEST_CASE("a launch cannot be prepared for a device that is not there") {
    OwnBackend backend;
    ucd::Owner<PreparedLaunch> prepared;
    const MoveList none;
    for (const int device : {-1, mock::device_count})
        CHECK(backend->prepare_launch(device, none, prepared).code() == UCD_ERR__DEVICE);
    CHECK(prepared == nullptr);
}

TEST_CASE("whatever fails while a launch is prepared or started is told, and nothing is left") {
    Case one("prepared faults", 0);
    int refused_when_prepared = 0, refused_when_started = 0;
    for (int nth = 1;; ++nth) {
        OwnBackend backend;
        MixedList mixed(one, backend);
        TestList &list = mixed.list;
        ucd::Owner<PreparedLaunch> prepared;
        mock::Stream stream(0);
        const ucd::NativeStream native{0, &stream, nullptr};
        ucd::hostgpu::failing_call = nth;
        ucd::Status status = backend->prepare_launch(0, list.moves, prepared);
        CHECK(status.ok() == (prepared != nullptr));
        refused_when_prepared += !status.ok();
        bool started = false;
        if (status.ok()) {
            const bool in_stream = nth % 2 == 0;
            status = in_stream ? backend->launch_prepared_in(native, *prepared, nullptr)
                               : backend.run(*prepared);
            started = status.ok();
            refused_when_started += !started;
        }
        stream.synchronise();
        const bool over = ucd::hostgpu::failing_call.exchange(0) > 0;
        if (!started)
            CHECK((status.code() == UCD_ERR__DEVICE || status.code() == UCD_ERR__OUT_OF_MEM));
        if (started) list.check("after a call that may fail");
        // And then it does not.
        list.set_up();
        if (prepared == nullptr) REQUIRE(backend->prepare_launch(0, list.moves, prepared).ok());
        REQUIRE(backend.run(*prepared).ok());
        list.check("tried again");
        if (over) break;
    }
    CHECK(refused_when_prepared > 10);
    CHECK(refused_when_started > 1);
}

} // namespace hostgpu_prepared_test
