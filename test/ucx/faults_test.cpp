// What goes wrong: each ends in an error, nothing hangs (every wait has a limit), nothing leaks
// (the end of a Side sees to that), and the workers go on.

#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/deadline.hpp"
#include "ucx/direct_pair.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace faults_test {

using namespace ucdtest;

DEVICE_TEST("a receive that nothing came for is cancelled") {
    TwoSides sides(SMALL_CHUNKS);
    Strided out(1000);
    Outcome received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    CHECK(ucd_ucx_destroy(&sides.b.pipeline) == UCD_ERR__INVALID_ARG);
    REQUIRE(ucd_ucx_cancel(sides.b.pipeline, received.request) == UCD_SUCCESS);
    sides.until([&] { return received.done(); });
    CHECK(received.result.status == UCS_ERR_CANCELED);
    CHECK(out.is_clear());
    check_usable(sides);
}

// One message of many fragments, which UCX does not cancel once it has one of them.
DEVICE_TEST("a receive of which a part has come is cancelled, and the rest is dropped") {
    const auto cancel_a_receive = [](bool ends_early) {
        TwoSides sides({{"ucd.ucx.eager", "1000000000"}});
        Strided in(8 << 20), out(8 << 20);
        Outcome sent, received;
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
        sides.until([&] { return *out.data() != 0; });
        REQUIRE_FALSE(received.done());
        REQUIRE(ucd_ucx_cancel(sides.b.pipeline, received.request) == UCD_SUCCESS);
        ucd_ucx_progress(sides.b.pipeline);
        REQUIRE(received.done());
        CHECK(received.result.status == UCS_ERR_CANCELED);
        out.clear();
        if (ends_early) { // the pipeline does, and not UCX's receive
            REQUIRE(ucd_ucx_destroy(&sides.b.pipeline) == UCD_SUCCESS);
            sides.b.open_pipeline(UCD_INFO__NULL);
        }
        sides.until([&] { return sent.done(); });
        CHECK(sent.result.status == UCS_OK);
        check_usable(sides);
        CHECK(out.is_clear());
        CHECK(received.calls == 1);
    };
    // Nothing is left of the receives when UCX has ended them, but for what is kept for good.
    std::ptrdiff_t live = 0;
    for (const bool again : {false, true}) {
        for (const bool ends_early : {false, true}) cancel_a_receive(ends_early);
        if (again) CHECK(live_allocations() == live);
        live = live_allocations();
    }
}

// UCX calls back for fragments in any thread that makes progress.
DEVICE_TEST("receives are cancelled while other threads move their data") {
    for (const auto &[eager, direct] : {std::pair("1000000000", "no"), {"64", "always"}}) {
        TwoSides sides({{"ucd.ucx.eager", eager}, {"ucd.ucx.direct", direct}},
                       UCS_THREAD_MODE_MULTI);
        std::atomic<bool> over = false;
        std::vector<std::thread> threads;
        for (const Side *side : {&sides.a, &sides.b})
            threads.emplace_back([&over, side] {
                while (!over) ucd_ucx_progress(side->pipeline);
            });
        constexpr std::size_t ints = 500'000; // many fragments
        Rng rng(static_cast<std::uint64_t>(session_seed()));
        std::string failure;
        for (ucp_tag_t tag = 1; tag <= 15 && failure.empty(); ++tag) {
            MappableStrided in(ints);
            Strided out(ints), rest(ints);
            for (Strided *to : {&out, &rest}) to->clear();
            Request sent, received, last;
            const auto receive = [&](Strided &to, Request &request) {
                ok(ucd_ucx_recv_nbx(sides.b.pipeline, to.data(), 1, to.type(), tag, UINT64_MAX,
                                    nullptr, &request.handle),
                   "receive");
            };
            receive(out, received);
            ok(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.data(), 1, in.type(), tag, nullptr,
                                &sent.handle),
               "send");
            const auto until =
                std::chrono::steady_clock::now() + std::chrono::microseconds(rng.below(2000));
            while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
            ok(ucd_ucx_cancel(sides.b.pipeline, received.handle), "cancel");
            // If nothing had come, another receive takes the message, for which the sender may
            // wait.
            receive(rest, last);
            const auto wait = [&](const Request &request) {
                Deadline limit(30);
                while (!request.done() && failure.empty())
                    if (limit.has_passed()) failure = "it takes too long";
            };
            wait(received);
            wait(sent);
            ok(ucd_ucx_cancel(sides.b.pipeline, last.handle), "cancel");
            wait(last);
            for (const auto &[request, to] : {std::pair(&received, &out), {&last, &rest}}) {
                const ucs_status_t status = ucd_ucx_request_check(request->handle, nullptr);
                if (status == UCS_OK && !to->received_from(in)) failure = "other bytes";
                if (status != UCS_OK && status != UCS_ERR_CANCELED)
                    failure = ucs_status_string(status);
            }
        }
        over = true;
        for (std::thread &thread : threads) thread.join();
        CHECK(failure == "");
    }
}

DEVICE_TEST("an endpoint that is lost leaves transfers with others alone") {
    for (const int steps : {0, 3, 30}) {
        TwoSides sides(SMALL_CHUNKS);
        const std::string address = sides.b.address();
        ucp_ep_params_t params = {};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = reinterpret_cast<const ucp_address_t *>(address.data());
        ucp_ep_h other;
        ucx(ucp_ep_create(sides.a.worker, &params, &other), "ucp_ep_create");
        Strided in(200000), out(200000);
        Outcome sent, received;
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
        for (int i = 0; i < steps; ++i) sides.progress();
        REQUIRE(!sent.done());
        ok(ucd_ucx_lose_endpoint(sides.a.pipeline, other, UCS_ERR_CANCELED), "lose_endpoint");
        sides.until([&] { return sent.done() && received.done(); });
        CHECK(sent.result.status == UCS_OK);
        CHECK(received.result.status == UCS_OK);
        const ucp_request_param_t close = {};
        const ucs_status_ptr_t closed = ucp_ep_close_nbx(other, &close);
        if (UCS_PTR_IS_PTR(closed)) {
            sides.until([&] { return ucp_request_check_status(closed) != UCS_INPROGRESS; });
            ucp_request_free(closed);
        }
        check_usable(sides);
    }
}

DEVICE_TEST("one message from the host's memory needs no memory for a chunk") {
    TwoSides sides({{"ucd.ucx.eager", "100000"}});
    sides.a.memory.until_failure = 0;
    Strided in(5000), out(5000);
    Outcome sent, received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && received.done(); });
    CHECK(received.result.status == UCS_OK);
    CHECK(out.received_from(in));
}

DEVICE_TEST("chunk memory stays within its limit, but for a chunk for each transfer") {
    TwoSides sides({{"ucd.ucx.chunk", "1000"},
                    {"ucd.ucx.eager", "64"},
                    {"ucd.ucx.pack", "chunk"},
                    {"ucd.ucx.staging", "5000"}});
    std::vector<std::unique_ptr<Strided>> in, out;
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (std::size_t i = 0; i < 10; ++i) {
        in.push_back(std::make_unique<Strided>(5000));
        REQUIRE(start_send(sides.a, *in.back(), *outcomes.emplace_back(std::make_unique<Outcome>()),
                           i) == UCD_SUCCESS);
    }
    for (int i = 0; i < 20; ++i) sides.progress();
    CHECK(sides.a.memory.most >= 10);
    CHECK(sides.a.memory.most <= 15);
    for (std::size_t i = 10; i-- > 0;) {
        out.push_back(std::make_unique<Strided>(5000));
        REQUIRE(start_receive(sides.b, *out.back(),
                              *outcomes.emplace_back(std::make_unique<Outcome>()),
                              i) == UCD_SUCCESS);
    }
    sides.until([&] {
        return std::all_of(outcomes.begin(), outcomes.end(), [](auto &o) { return o->done(); });
    });
    for (auto &o : out) CHECK(o->received_from(*in[0]));
    CHECK(sides.b.memory.most <= 15);
}

DEVICE_TEST("messages that nobody wanted are dropped with the pipeline") {
    TwoSides sides(SMALL_CHUNKS);
    Strided in(5000);
    Outcome sent, active;
    REQUIRE(start_send(sides.a, in, sent, 12345) == UCD_SUCCESS);
    // Without a handler, an active message is dropped at once.
    start_active(sides.a, {in.data(), 1, in.type()}, active);
    sides.until([&] { return active.done(); });
    CHECK(active.result.status == UCS_OK);
    CHECK(!sent.done());
    REQUIRE(ucd_ucx_destroy(&sides.b.pipeline) == UCD_SUCCESS);
    REQUIRE(ucd_ucx_cancel(sides.a.pipeline, sent.request) == UCD_SUCCESS);
    const auto progress_until = [&](auto done) {
        for (int i = 0; i < 20000 && !done(); ++i) {
            ucp_worker_progress(sides.b.worker);
            ucd_ucx_progress(sides.a.pipeline);
        }
    };
    progress_until([&] { return sent.done(); });
    // If UCX sends small messages by rendezvous too, somebody has to receive this one.
    char dropped[256];
    const ucp_request_param_t plain = {};
    const ucs_status_ptr_t rest =
        ucp_tag_recv_nbx(sides.b.worker, dropped, sizeof dropped, 12345, UINT64_MAX, &plain);
    REQUIRE(!UCS_PTR_IS_ERR(rest));
    // A request that is freed before it is complete keeps its memory registered, and the end of
    // UCX 1.16 asserts that none is.
    const auto is_received = [&] {
        return rest == nullptr || ucp_request_check_status(rest) != UCS_INPROGRESS;
    };
    progress_until([&] { return sent.done() && is_received(); });
    CHECK(sent.result.status == UCS_ERR_CANCELED);
    REQUIRE(is_received());
    if (rest != nullptr) ucp_request_free(rest);
}

DEVICE_TEST("sends that are too long, or whose headers are, change nothing") {
    TwoSides sides(SMALL_CHUNKS);
    Strided in(10);
    Outcome o;
    const ucd_ucx_param_t p = o.param();
    CHECK(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.data(), UINTPTR_MAX / 2, in.type(), 1,
                           &p, &o.request) == UCD_ERR__OVERFLOW);
    const std::string long_header(100000, 'h');
    CHECK(ucd_ucx_am_send_nbx(sides.a.pipeline, sides.a.ep, 1, long_header.data(),
                              long_header.size(), in.data(), 1, in.type(), &p,
                              &o.request) == UCD_ERR__INVALID_ARG);
    CHECK(o.request == UCD_UCX_REQUEST__NULL);
    check_usable(sides);
}

DEVICE_TEST("a pipeline that ends lets go of requests that are complete, told or not") {
    std::ptrdiff_t live = 0;
    for (int i = 0; i < 3; ++i) {
        {
            TwoSides sides(SMALL_CHUNKS);
            Told told(sides.b);
            char bytes[8] = {};
            Outcome sent, received;
            start_active(sides.a, {bytes, 8, UCD_TYPE__BYTE}, sent, {});
            sides.until([&] { return told.times > 0 && sent.done(); });
            start_receive_active(sides.b, told.data, {bytes, 7, UCD_TYPE__BYTE}, received);
            CHECK(ucd_ucx_destroy(&sides.b.pipeline) == UCD_SUCCESS);
            CHECK(received.calls == 0);
            CHECK(ucd_ucx_request_check(received.request, nullptr) == UCS_ERR_MESSAGE_TRUNCATED);
        }
        if (i == 1) live = live_allocations(); // what is kept for good has come by then
    }
    CHECK(live_allocations() == live);
}

} // namespace faults_test
