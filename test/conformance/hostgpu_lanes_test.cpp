// Many calls at a time on GPU backends, of one thread and of several: launches that share streams
// and events, and requests that other threads complete.
#include "support/catch.hpp"

#include "support/moves/batch_calls.hpp"

#include <algorithm>
#include <list>
#include <thread>
#include <vector>

namespace hostgpu_lanes_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

RecipePtr strided() {
    return vector(60, 1, 3, leaf(UCD_TYPE__INT));
}
// Has lists in device memory.
RecipePtr listed() {
    return indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, leaf(UCD_TYPE__INT));
}

// A pack on one device, as often as there are requests for it.
struct ManyPacks : WholeMove {
    std::vector<ucd_request_t> requests;
    std::vector<int> rcs; // of calls, or of waiting

    ManyPacks(const RecipePtr &recipe, std::size_t count)
        : WholeMove("many packs", recipe, device0, device0), requests(count, UCD_REQUEST__NULL),
          rcs(count, UCD_SUCCESS) {
        set_up_pack(move());
    }
    // No assertions in here: threads run it.
    int start(ucd_request_t &to, ucd_info_t info) {
        std::uintptr_t moved = 0;
        return ucd_ipack(typed.real_base(), 1, type(), 0, packed.real_base(), bytes(), &moved, info,
                         UCD_OP__REPLACE, &to);
    }
    void start_all(ucd_info_t info) {
        for (std::size_t i = 0; i < requests.size(); ++i) rcs[i] = start(requests[i], info);
    }
    void wait_all() {
        for (std::size_t i = 0; i < requests.size(); ++i)
            if (rcs[i] == UCD_SUCCESS) rcs[i] = ucd_wait(&requests[i]);
    }
    int start_in(mock::Stream &stream, ucd_info_t info) {
        std::uintptr_t moved = 0;
        return ucd_pack_stream(typed.real_base(), 1, type(), 0, packed.real_base(), bytes(), &moved,
                               info, UCD_OP__REPLACE, native(stream));
    }
    std::ptrdiff_t failed() const {
        return std::count_if(rcs.begin(), rcs.end(), [](int rc) { return rc != UCD_SUCCESS; });
    }
    void check() {
        CHECK(failed() == 0);
        check_result(move());
    }
};

} // namespace

TEST_CASE("packs of several threads, each waited for by another one") {
    DeviceSession session;
    const Hints hints(GENERATE(false, true));
    constexpr std::size_t threads = 5, calls = 100;
    std::list<ManyPacks> packs;
    for (std::size_t i = 0; i < threads; ++i)
        packs.emplace_back(i % 2 == 0 ? strided() : listed(), calls);
    const auto in_threads = [&](auto body) {
        std::vector<std::thread> running;
        for (ManyPacks &pack : packs) running.emplace_back([&] { body(pack); });
        for (std::thread &thread : running) thread.join();
    };
    in_threads([&](ManyPacks &pack) { pack.start_all(hints); });
    in_threads([&](ManyPacks &pack) { pack.wait_all(); });
    for (ManyPacks &pack : packs) pack.check();
    // All at once, and of one type: the first pack's.
    std::vector<ManyPacks *> own;
    for (ManyPacks &pack : packs) own.push_back(&pack);
    for (ManyPacks *pack : own) set_up_pack(pack->move());
    in_threads([&](ManyPacks &pack) {
        mock::Stream stream(0);
        for (std::size_t i = 0; i < calls; ++i) {
            pack.rcs[i] = pack.start(pack.requests[i], hints);
            if (pack.rcs[i] == UCD_SUCCESS) pack.rcs[i] = pack.start_in(stream, hints);
            if (i % 3 == 0 && pack.rcs[i] == UCD_SUCCESS) pack.rcs[i] = ucd_wait(&pack.requests[i]);
        }
        pack.wait_all();
        stream.synchronise();
    });
    for (ManyPacks &pack : packs) pack.check();
}

TEST_CASE("the last ucd_finalize completes what threads have left") {
    DeviceSession session;
    std::list<ManyPacks> packs;
    for (int i = 0; i < 4; ++i) packs.emplace_back(i % 2 == 0 ? strided() : listed(), 50);
    mock::knobs.delay_us = 20;
    std::vector<std::thread> threads;
    for (ManyPacks &pack : packs) threads.emplace_back([&] { pack.start_all(UCD_INFO__NULL); });
    for (std::thread &thread : threads) thread.join();
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    for (ManyPacks &pack : packs) {
        pack.wait_all();
        pack.check();
    }
    mock::knobs.delay_us = 0;
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("few launches have an event of their own") {
    DeviceSession session;
    const Hints hints(true);
    ManyPacks pack(strided(), 400);
    mock::counts.events_recorded = mock::counts.queries = 0;
    for (ucd_request_t &request : pack.requests) { // one at a time
        REQUIRE(pack.start(request, hints) == UCD_SUCCESS);
        REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    }
    mock::Stream stream(0);
    for (int i = 0; i < 100; ++i) REQUIRE(pack.start_in(stream, hints) == UCD_SUCCESS);
    stream.synchronise();
    CHECK(mock::counts.events_recorded == 0);
    mock::hold();
    pack.start_all(hints);
    mock::let_go();
    pack.wait_all();
    CHECK(mock::counts.events_recorded <= 400 / 8);
    CHECK(mock::counts.queries == 0); // hints tell where all is
    pack.check();
}

TEST_CASE("requests are over while later launches of their lanes are not") {
    DeviceSession session;
    ManyPacks pack(strided(), 300);
    mock::hold();
    pack.start_all(UCD_INFO__NULL);
    mock::allow(200);
    mock::wait_until_begun(200);
    // Of each of the eight lanes, fewer than eight launches and the one that is on its way may not
    // be known to be over.
    constexpr std::ptrdiff_t least = 200 - 8 * 8;
    for (std::ptrdiff_t completed = 0; completed < least;) {
        for (ucd_request_t &request : pack.requests) {
            int over = 0;
            REQUIRE(ucd_test(&request, &over) == UCD_SUCCESS);
        }
        completed = std::count(pack.requests.begin(), pack.requests.end(), UCD_REQUEST__NULL);
        REQUIRE(completed <= 200);
        std::this_thread::yield();
    }
    mock::let_go();
    pack.wait_all();
    pack.check();
}

TEST_CASE("types are freed while packs with them are under way") {
    DeviceSession session;
    for (const RecipePtr &recipe : {strided(), listed()}) {
        mock::Stream stream(0);
        ManyPacks pack(recipe, 100);
        mock::hold();
        pack.start_all(UCD_INFO__NULL);
        REQUIRE(pack.start_in(stream, UCD_INFO__NULL) == UCD_SUCCESS);
        pack.free_type();
        // Another type's lists do not come where those of the freed one still are read.
        ManyPacks other(indexed({2, 2, 2, 4, 1}, {1, 8, 21, 12, 31}, leaf(UCD_TYPE__INT)), 10);
        other.start_all(UCD_INFO__NULL);
        mock::let_go();
        other.wait_all();
        pack.wait_all();
        stream.synchronise();
        other.check();
        pack.check();
    }
}

TEST_CASE("work that fails is told to its requests, and to few others") {
    DeviceSession session;
    ManyPacks few(strided(), 3), many(strided(), 200);
    mock::knobs.failing_work = 2;
    few.start_all(UCD_INFO__NULL);
    few.wait_all();
    CHECK(few.failed() == 1);
    mock::hold();
    mock::knobs.failing_work = 100;
    many.start_all(UCD_INFO__NULL);
    mock::let_go();
    many.wait_all();
    CHECK(many.failed() >= 1);
    CHECK(many.failed() <= 200 / 8);
    set_up_pack(many.move());
    many.start_all(UCD_INFO__NULL);
    many.wait_all();
    many.check();
}

TEST_CASE("calls of a thread go where the hints and the stream of each call say") {
    DeviceSession session;
    mock::Stream streams[] = {mock::Stream(0), mock::Stream(1)};
    for (const bool started_anew : {false, true}) {
        if (started_anew) {
            REQUIRE(ucd_finalize() == UCD_SUCCESS);
            REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        }
        WholeMove on_first("hints", strided(), device0, device0),
            on_second("hints", strided(), device1, device1),
            to_host("hints", strided(), device1, pinned);
        WholeMove *const moves[] = {&on_first, &on_second, &to_host};
        Keys changing;
        const auto set = [](Keys &keys, const WholeMove &move) {
            keys.set("ucd.inbuf", hint_for(move.typed.memory()));
            keys.set("ucd.outbuf", hint_for(move.packed.memory()));
        };
        for (int round = 0; round < 3; ++round) // from the second one on by plans that are known
            for (WholeMove *const move : moves) {
                Keys own;
                for (Keys *const keys : {&own, &changing}) {
                    set(*keys, *move);
                    move->pack_and_check(*keys);
                }
            }
        for (mock::Stream &stream : streams)
            for (WholeMove *const move : moves) {
                set(changing, *move);
                set_up_pack(move->move());
                const int rc = pack_in(native(stream), move->move(), changing);
                stream.synchronise();
                if ((stream.device() == 0) != (move == &on_first)) {
                    CHECK(rc == UCD_ERR__NOT_SUPPORTED);
                    continue;
                }
                REQUIRE(rc == UCD_SUCCESS);
                move->check();
            }
        // With the same hints, but no device asked for, the call is not the last one again.
        changing.set("ucd.gpu", "none");
        CHECK(pack_in(native(streams[1]), to_host.move(), changing) == UCD_ERR__NOT_SUPPORTED);
        streams[1].synchronise();
    }
}

} // namespace hostgpu_lanes_test
