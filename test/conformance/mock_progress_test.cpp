// What happens between the call that starts work and the one that ends its request.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/strided_move.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace mock_progress_test {

using namespace ucdtest;
using enum ucdtest::Memory;

namespace {

bool is_complete(ucd_request_t &request) {
    int completed = -1;
    REQUIRE(ucd_test(&request, &completed) == UCD_SUCCESS);
    REQUIRE((completed == 0 || completed == 1));
    REQUIRE((request == UCD_REQUEST__NULL) == (completed == 1));
    return completed == 1;
}

} // namespace

TEST_CASE("a call with a request does not wait for the device") {
    for (const auto &[a, b] :
         {std::pair{device0, pinned}, std::pair{device0, device0}, std::pair{device0, pageable},
          std::pair{pageable, device0}, std::pair{device0, device1}}) {
        INFO(name_of(a) << " to " << name_of(b));
        DeviceSession session;
        StridedMove pack("held pack", 300, a, b), unpack("held unpack", 300, a, b);
        mock::hold();
        REQUIRE(pack.start_pack() == UCD_SUCCESS);
        CHECK(pack.actual == pack.bytes());
        REQUIRE(unpack.start_unpack() == UCD_SUCCESS);
        CHECK(unpack.actual == unpack.bytes());
        for (int i = 0; i < 5; ++i) {
            CHECK_FALSE(is_complete(pack.request));
            CHECK_FALSE(is_complete(unpack.request));
        }
        mock::let_go();
        while (!is_complete(pack.request)) {
        }
        REQUIRE(unpack.wait() == UCD_SUCCESS);
        pack.check();
        unpack.check();
        CHECK(is_complete(pack.request)); // it is null
    }
}

TEST_CASE("work on the host is complete on return, whatever the devices do") {
    DeviceSession session;
    StridedMove away("away", 10, device0, pinned), here("here", 300, pageable, pinned);
    mock::hold();
    REQUIRE(away.start_pack() == UCD_SUCCESS);
    REQUIRE(here.start_pack() == UCD_SUCCESS);
    CHECK(here.request == UCD_REQUEST__NULL);
    here.check();
    mock::let_go();
    REQUIRE(away.wait() == UCD_SUCCESS);
}

TEST_CASE("types may be freed while requests use them") {
    DeviceSession session;
    for (const Memory b : {pinned, pageable, device1}) {
        const int plans = mock::counts.live_plans;
        StridedMove pack("freed", 1000, device0, b);
        pack.op = UCD_OP__SUM;
        mock::hold();
        REQUIRE(pack.start_pack() == UCD_SUCCESS);
        pack.free_type();
        CHECK(mock::counts.live_plans > plans);
        mock::let_go();
        pack.wait_and_check();
        CHECK(mock::counts.live_plans == plans);
    }
    // A call that is told where all is, of a type that the device has moved before.
    const Keys hints({{"ucd.inbuf", hint_for(device0)}, {"ucd.outbuf", hint_for(pinned)}});
    StridedMove known("freed", 1000, device0, pinned);
    known.pack_and_check(hints);
    mock::hold();
    REQUIRE(known.start_pack(hints) == UCD_SUCCESS);
    known.free_type();
    mock::let_go();
    known.wait_and_check();
}

TEST_CASE("more data than the pool holds, and waiting for the second request first") {
    for (const auto &[a, b] : {std::pair{device0, pageable}, std::pair{pageable, device0},
                               std::pair{device0, device1}}) {
        INFO(name_of(a) << " and " << name_of(b));
        DeviceSession session;
        use_staging(256, 2);
        StridedMove first("first", 3000, a, b), second("second", 2000, a, b),
            third("third", 100, a, b);
        mock::hold();
        REQUIRE(first.start_pack() == UCD_SUCCESS);
        // Neither finds a chunk.
        REQUIRE(second.start_pack() == UCD_SUCCESS);
        REQUIRE(third.start_pack() == UCD_SUCCESS);
        CHECK(mock::counts.allocations == 2);
        CHECK_FALSE(is_complete(second.request));
        mock::let_go();
        REQUIRE(third.wait() == UCD_SUCCESS);
        second.wait_and_check();
        third.check();
        first.wait_and_check();
        CHECK(mock::counts.allocations == 2);
    }
}

TEST_CASE("several chunks are under way at the same time") {
    DeviceSession session;
    use_staging(256, 4);
    StridedMove pack("chunks", 1000, device0, pageable);
    mock::hold();
    REQUIRE(pack.start_pack() == UCD_SUCCESS);
    CHECK(mock::counts.launches == 4);
    mock::allow(1);
    mock::wait_until_begun(1);
    // The chunk that has arrived is used again.
    while (mock::counts.launches < 5) CHECK_FALSE(is_complete(pack.request));
    mock::let_go();
    pack.wait_and_check();
    CHECK(mock::counts.launches == (4000 + 255) / 256);
    CHECK(mock::counts.allocations == 4);
}

TEST_CASE("chunks are kept for later calls") {
    DeviceSession session;
    for (int i = 0; i < 5; ++i) {
        StridedMove pack("again", 100, device0, pageable);
        pack.pack_and_check();
    }
    CHECK(mock::counts.allocations == 1);
}

TEST_CASE("waiting for any request moves all staged work forward") {
    DeviceSession session;
    use_staging(256, 1);
    constexpr int chunks = (4000 + 255) / 256;
    StridedMove staged("staged", 1000, device0, pageable);
    REQUIRE(staged.start_pack() == UCD_SUCCESS);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int others = 1;; ++others) {
        StridedMove other("other", 10, device1, pinned);
        REQUIRE(other.start_pack() == UCD_SUCCESS);
        REQUIRE(other.wait() == UCD_SUCCESS);
        if (mock::counts.launches - others == chunks) break;
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    }
    staged.wait_and_check();
}

TEST_CASE("complete work has given back its types, whether its request was asked about or not") {
    DeviceSession session;
    const int plans = mock::counts.live_plans;
    StridedMove staged("staged", 100, device0, pageable);
    mock::hold();
    REQUIRE(staged.start_pack() == UCD_SUCCESS);
    staged.free_type();
    CHECK(mock::counts.live_plans > plans);
    mock::let_go();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (mock::counts.live_plans > plans) {
        StridedMove other("other", 10, device1, pinned);
        REQUIRE(other.start_pack() == UCD_SUCCESS);
        REQUIRE(other.wait() == UCD_SUCCESS);
        other.free_type();
        REQUIRE(std::chrono::steady_clock::now() < deadline);
    }
    staged.wait_and_check();
}

TEST_CASE("waitall ends requests of all kinds") {
    DeviceSession session;
    use_staging(256, 2);
    std::vector<std::unique_ptr<StridedMove>> moves;
    std::vector<ucd_request_t> requests{UCD_REQUEST__NULL};
    mock::knobs.delay_us = 50;
    for (const Memory a : all_memories) {
        for (const Memory b : all_memories) {
            moves.push_back(std::make_unique<StridedMove>("waitall", 200, a, b));
            REQUIRE(moves.back()->start_unpack() == UCD_SUCCESS);
            requests.push_back(moves.back()->request);
        }
    }
    REQUIRE(ucd_waitall(requests.size(), requests.data()) == UCD_SUCCESS);
    for (const ucd_request_t request : requests) CHECK(request == UCD_REQUEST__NULL);
    for (const auto &move : moves) move->check();
    CHECK(ucd_waitall(0, nullptr) == UCD_SUCCESS);
}

TEST_CASE("many threads, each with requests of its own") {
    DeviceSession session;
    use_staging(256, 3);
    std::atomic<int> failures{0};
    // Catch's assertions are for one thread, so the threads only count.
    const auto work = [&](unsigned id) {
        constexpr Memory memories[] = {pageable, pinned, device0, device1};
        std::vector<std::unique_ptr<StridedMove>> moves;
        for (unsigned i = 0; i < 12; ++i)
            moves.push_back(std::make_unique<StridedMove>("threads", 50 + 40 * (i + id),
                                                          memories[(i + id) % 4], memories[i / 4]));
        for (int round = 0; round < 5; ++round) {
            for (auto &move : moves)
                failures += (round % 2 ? move->start_pack() : move->start_unpack()) != UCD_SUCCESS;
            for (std::size_t i = moves.size(); i-- > 0;)
                failures += moves[i]->wait() != UCD_SUCCESS;
            for (auto &move : moves) {
                move->typed.fetch();
                move->packed.fetch();
                failures += move->typed.first_difference().has_value();
                failures += move->packed.first_difference().has_value();
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned id = 0; id < 4; ++id) threads.emplace_back(work, id);
    for (std::thread &thread : threads) thread.join();
    CHECK(failures == 0);
}

namespace {

// The last ucd_finalize, made while work is held that another thread will let go.
void finalize_with_held_work() {
    std::thread later([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        mock::let_go();
    });
    const int rc = ucd_finalize();
    later.join();
    REQUIRE(rc == UCD_SUCCESS);
    // Everything of the library's is gone, but for the requests, which tell how it went.
    CHECK(mock::counts.live_events == 0);
    CHECK(mock::counts.live_allocations == 0);
}

} // namespace

TEST_CASE("the last ucd_finalize completes what is outstanding") {
    DeviceSession session;
    StridedMove direct("direct", 100, device0, pinned), staged("staged", 3000, device0, pageable),
        later("later", 100, device1, device1);
    mock::hold();
    REQUIRE(direct.start_pack() == UCD_SUCCESS);
    REQUIRE(staged.start_pack() == UCD_SUCCESS);
    REQUIRE(later.start_pack() == UCD_SUCCESS);
    finalize_with_held_work();
    CHECK(is_complete(direct.request));
    REQUIRE(staged.wait() == UCD_SUCCESS);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    // A request of an earlier life is complete in a later one too.
    CHECK(is_complete(later.request));
    direct.check();
    staged.check();
    later.check();
}

TEST_CASE("how work failed is told after the last ucd_finalize too") {
    DeviceSession session;
    use_staging(256, 2);
    StridedMove staged("staged", 3000, device0, pageable);
    mock::hold();
    REQUIRE(staged.start_pack() == UCD_SUCCESS);
    mock::knobs.failing_work = 3;
    finalize_with_held_work();
    CHECK(staged.wait() == UCD_ERR__DEVICE);
    CHECK(staged.request == UCD_REQUEST__NULL);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace mock_progress_test
