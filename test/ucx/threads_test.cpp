// UCS_THREAD_MODE_MULTI: threads that send, receive, cancel and make progress on the same two
// workers.

#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"
#include "ucx/pair.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace ucdtest;

namespace {

// The transfers of one thread; whether all went well. Checks are the main thread's.
bool exchange(TwoSides &sides, unsigned thread, ucd_type_t type, std::size_t ints) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::vector<int> in(2 * ints), out(2 * ints);
    for (unsigned round = 0; round < 100; ++round) {
        const ucp_tag_t tag = thread * 1000 + round;
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(tag + i);
        std::fill(out.begin(), out.end(), -1);
        Side &from = round % 2 ? sides.a : sides.b, &to = round % 2 ? sides.b : sides.a;
        Request sent, received;
        if (ucd_ucx_send_nbx(from.pipeline, from.ep, in.data(), 1, type, tag, nullptr,
                             &sent.handle) != UCD_SUCCESS ||
            ucd_ucx_recv_nbx(to.pipeline, out.data(), 1, type, tag, UINT64_MAX, nullptr,
                             &received.handle) != UCD_SUCCESS)
            return false;
        const bool cancels = round % 7 == 3;
        if (cancels && ucd_ucx_cancel(from.pipeline, sent.handle) != UCD_SUCCESS) return false;
        while (!sent.done() || !received.done()) {
            sides.progress();
            if (std::chrono::steady_clock::now() > limit) return false;
        }
        const ucs_status_t status = ucd_ucx_request_check(received.handle, nullptr);
        if (cancels && status == UCS_ERR_CANCELED) continue;
        if (status != UCS_OK) return false;
        for (std::size_t i = 0; i < out.size(); ++i)
            if (out[i] != (i % 2 == 0 ? in[i] : -1)) return false;
    }
    return true;
}

} // namespace

TEST_CASE("threads share two workers") {
    const DeviceSession session;
    TwoSides sides({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {"ucd.ucx.depth", "2"}},
                   UCS_THREAD_MODE_MULTI);
    constexpr std::size_t ints = 5000;
    ucd_type_t type;
    REQUIRE(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    std::atomic<unsigned> good = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 1; t <= 4; ++t)
        threads.emplace_back([&, t] { good += exchange(sides, t, type, ints); });
    for (std::thread &t : threads) t.join();
    CHECK(good == 4);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}
