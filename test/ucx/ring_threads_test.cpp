// Threads that send between devices at the same time, on the same two workers: chunks, what is
// open and what is given back are the pipelines', and so all threads'.

#include "support/device_test.hpp"
#include "ucx/deadline.hpp"
#include "ucx/ring_pair.hpp"

#include <thread>
#include <ucd_memory.h>

namespace ring_threads_test {

using namespace ucdtest;

namespace {

constexpr std::size_t ints = 3000;

// The transfers of one thread; what went wrong, or "". Checks are the main thread's.
std::string exchange(TwoSides &sides, unsigned thread, ucd_type_t type) {
    const std::string device = std::string(mock::backend.name) + ":0";
    for (unsigned round = 0; round < 40; ++round) {
        // Had and ended each time, so that memory comes back where other memory was.
        void *in, *out;
        for (void **memory : {&in, &out})
            if (ucd_memory_alloc(device.c_str(), UCD_MEMORY__DEVICE, 2 * ints * sizeof(int),
                                 memory) != UCD_SUCCESS)
                return "no memory";
        const ucp_tag_t tag = thread * 1000 + round;
        std::vector<int> sent_ints(2 * ints), got(2 * ints, -1);
        for (std::size_t i = 0; i < 2 * ints; ++i) sent_ints[i] = static_cast<int>(tag + i);
        mock::write(in, sent_ints.data(), 2 * ints * sizeof(int));
        mock::write(out, got.data(), 2 * ints * sizeof(int));
        Side &from = round % 2 ? sides.a : sides.b, &to = round % 2 ? sides.b : sides.a;
        const bool contiguous = round % 3 == 0, cancels = round % 7 == 3;
        ucs_status_t status;
        Request sent, received;
        if (ucd_ucx_send_nbx(from.pipeline, from.ep, in, contiguous ? ints : 1,
                             contiguous ? UCD_TYPE__INT : type, tag, nullptr,
                             &sent.handle) != UCD_SUCCESS ||
            ucd_ucx_recv_nbx(to.pipeline, out, 1, type, tag, UINT64_MAX, nullptr,
                             &received.handle) != UCD_SUCCESS)
            return ucd_ucx_last_error();
        if (cancels && ucd_ucx_cancel(from.pipeline, sent.handle) != UCD_SUCCESS)
            return ucd_ucx_last_error();
        Deadline limit(30);
        while (!sent.done() || !received.done()) {
            sides.progress();
            if (limit.has_passed()) return "it takes too long";
        }
        status = ucd_ucx_request_check(received.handle, nullptr);
        if (status != UCS_OK && !(cancels && status == UCS_ERR_CANCELED))
            return ucs_status_string(status);
        mock::read(got.data(), out, 2 * ints * sizeof(int));
        for (std::size_t i = 0; i < 2 * ints && status == UCS_OK; ++i)
            if (got[i] != (i % 2 != 0 ? -1 : sent_ints[contiguous ? i / 2 : i]))
                return "int " + std::to_string(i) + " is " + std::to_string(got[i]);
        for (void *memory : {in, out})
            if (ucd_memory_free(memory) != UCD_SUCCESS) return ucd_last_error();
    }
    return "";
}

} // namespace

DEVICE_TEST("threads share two workers and the device memory of their pipelines") {
    TwoSides sides({{"ucd.ucx.eager", "64"},
                    {"ucd.ucx.ring_chunk", "1000"},
                    {"ucd.ucx.ring_depth", "3"},
                    {"ucd.ucx.ring_staging", std::to_string(8 << 20)}},
                   UCS_THREAD_MODE_MULTI);
    ucd_type_t type;
    REQUIRE(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    std::string failures[4];
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] { failures[t] = exchange(sides, t + 1, type); });
    for (std::thread &t : threads) t.join();
    for (const std::string &failure : failures) CHECK(failure == "");
    CHECK(count_of(sides.a, UCD_UCX_EVENT__SHARE) > 0);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

} // namespace ring_threads_test
