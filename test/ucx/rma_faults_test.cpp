// What goes wrong with one-sided operations: each ends in an error that its origin is told, nothing
// hangs, nothing leaks, and the workers go on.

#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/rma_operation.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace rma_faults_test {

using namespace ucdtest;

namespace {

ucs_status_t run(RmaPair &pair, What what, std::size_t ints, const ucd_ucx_window_key_t *key,
                 std::intptr_t displacement) {
    RmaTestOperation op(ints);
    ok(op.start(what, pair.a, key, displacement), "an operation");
    pair.until([&] { return op.done(); });
    return op.status();
}

void check_usable(RmaPair &pair) {
    std::vector<int> memory(2000, 5);
    const Window window(pair.b, memory.data(), 8000);
    for (const What what : every) CHECK(run(pair, what, 2000, window.key(), 0) == UCS_OK);
    CHECK(std::count(memory.begin(), memory.end(), 3) == 2000); // 1 put, and 1 added twice
}

} // namespace

DEVICE_TEST("operations that reach beyond their window are refused") {
    RmaPair pair(small_chunks);
    std::vector<int> memory(1200, 7);
    const Window window(pair.b, memory.data() + 100, 4000);
    for (const What what : every) {
        for (const std::size_t ints : {std::size_t{1}, std::size_t{1000}}) {
            for (const std::intptr_t d :
                 {std::intptr_t{-1}, std::intptr_t{-400},
                  static_cast<std::intptr_t>(4001 - 4 * ints), std::intptr_t{4000}, INTPTR_MAX,
                  INTPTR_MIN, INTPTR_MAX - 3999, INTPTR_MIN + 4000})
                CHECK(run(pair, what, ints, window.key(), d) == UCS_ERR_OUT_OF_RANGE);
            CHECK(run(pair, what, 1001, window.key(), 0) == UCS_ERR_OUT_OF_RANGE);
        }
        CHECK(std::count(memory.begin(), memory.end(), 7) == 1200);
    }
    // In numbers.
    RmaTestOperation beyond(2);
    ok(beyond.start(What::put, pair.a, window.key(), 3996), "an operation");
    pair.until([&] { return beyond.done(); });
    (void)ucd_ucx_request_check(beyond.o.request, nullptr);
    char key[9];
    const unsigned char *const name = window.key()->bytes + 8;
    (void)std::snprintf(key, sizeof key, "%02x%02x%02x%02x", name[0], name[1], name[2], name[3]);
    CHECK(std::string(ucd_ucx_last_error()).find("bytes 0 to 8 from target_disp 3996") !=
          std::string::npos);
    CHECK(std::string(ucd_ucx_last_error()).find(key) != std::string::npos);
    // The window's very ends.
    CHECK(run(pair, What::put, 1000, window.key(), 0) == UCS_OK);
    CHECK(std::count(memory.begin(), memory.end(), 1) == 1000);
    CHECK(run(pair, What::accumulate, 1, window.key(), 3996) == UCS_OK);
    CHECK(memory[1099] == 2);
    CHECK(memory[1100] == 7);
}

DEVICE_TEST("operations on windows that there are not") {
    RmaPair pair(small_chunks);
    std::vector<int> memory(1000, 7);
    ucd_ucx_window_key_t gone;
    {
        const Window window(pair.b, memory.data(), 4000);
        gone = *window.key();
    }
    const Window window(pair.b, memory.data(), 4000), empty(pair.b, nullptr, 0);
    for (const What what : every) {
        for (const std::size_t ints : {std::size_t{1}, std::size_t{1000}}) {
            CHECK(run(pair, what, ints, &gone, 0) == UCS_ERR_NO_ELEM);
            CHECK(run(pair, what, ints, empty.key(), 0) == UCS_ERR_OUT_OF_RANGE);
        }
        CHECK(run(pair, what, 0, &gone, 0) == UCS_ERR_NO_ELEM);
        CHECK(run(pair, what, 0, empty.key(), 12345) == UCS_OK); // touches nothing
    }
    // Of the origin itself, which has no such window either.
    ucd_ucx_window_key_t other = *window.key();
    other.bytes[20] ^= 1;
    CHECK(run(pair, What::put, 1, &other, 0) == UCS_ERR_NO_ELEM);
    CHECK(std::count(memory.begin(), memory.end(), 7) == 1000);
    check_usable(pair);
}

DEVICE_TEST("what an origin can see is refused at once") {
    RmaPair pair(small_chunks);
    std::vector<int> memory(100, 7);
    const Window window(pair.b, memory.data(), 400);
    const auto refused = [&](int rc, const char *why) {
        CHECK(rc == UCD_ERR__INVALID_ARG);
        CHECK(std::string(ucd_ucx_last_error()).find(why) != std::string::npos);
    };
    for (const What what : every) {
        RmaTestOperation op(10);
        refused(op.start(what, pair.a, window.key(), 0, UCD_TYPE__INT, 9),
                ": there are 40 bytes at the origin, and 36 at the target");
        refused(op.start(what, pair.a, nullptr, 0), "key is NULL");
        ucd_ucx_window_key_t no_key = {};
        refused(op.start(what, pair.a, &no_key, 0), "no window's key");
        // Each byte but those of the random name, 8 to 23.
        for (std::size_t at = 0; at < sizeof no_key.bytes; ++at) {
            no_key = *window.key();
            no_key.bytes[at] ^= 1;
            if (at < 8 || at >= 24) refused(op.start(what, pair.a, &no_key, 0), "no window's key");
        }
        CHECK(op.start(what, pair.a, window.key(), 0, UCD_TYPE__NULL) == UCD_ERR__INVALID_ARG);
        if (what == What::put || what == What::get) continue;
        // No argument's name, so that none gets a prefix.
        refused(op.start(what, pair.a, window.key(), 0, UCD_TYPE__FLOAT),
                ": the types of origin and target are not made of the same predefined type");
        // Named before the sizes, which differ as well.
        refused(op.start(what, pair.a, window.key(), 0, UCD_TYPE__DOUBLE), "same predefined type");
        refused(op.start(what, pair.a, window.key(), 0, UCD_TYPE__UNSIGNED),
                "same predefined type");
        ucd_type_t mixed;
        const std::intptr_t lengths[] = {1, 1}, displs[] = {0, 4};
        const ucd_type_t types[] = {UCD_TYPE__INT, UCD_TYPE__FLOAT};
        ok(ucd_create_struct(2, lengths, displs, types, UCD_INFO__NULL, &mixed), "struct");
        refused(op.start(what, pair.a, window.key(), 0, mixed, 5), "not made of one predefined");
        ok(ucd_free(&mixed), "free");
    }
    ucd_ucx_request_t request;
    std::vector<char> chars(4);
    const auto accumulate = [&](ucd_op_t op) {
        return ucd_ucx_accumulate_nbx(pair.a.rma, pair.a.ep(), chars.data(), 4, UCD_TYPE__CHAR,
                                      window.key(), 0, 4, UCD_TYPE__CHAR, op, nullptr, &request);
    };
    CHECK(accumulate(UCD_OP__SUM) == UCD_ERR__NOT_SUPPORTED);
    CHECK(std::string(ucd_ucx_last_error()) ==
          "ucd_ucx_accumulate_nbx: SUM is not defined on CHAR");
    CHECK(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), chars.data(), UINTPTR_MAX, UCD_TYPE__CHAR,
                          window.key(), 0, 4, UCD_TYPE__CHAR, nullptr,
                          &request) == UCD_ERR__OVERFLOW);
    CHECK(std::string(ucd_ucx_last_error()).rfind("ucd_ucx_put_nbx: origin_count is -1, ", 0) == 0);
    refused(accumulate(UCD_UCX_OP__NO_OP), "op is -1");
    refused(accumulate(99), "op is 99");
    refused(ucd_ucx_destroy(&pair.b.rma), "has a window");
    CHECK(std::count(memory.begin(), memory.end(), 7) == 100);
    check_usable(pair);
}

DEVICE_TEST("operations started after an endpoint was lost are not lost with it") {
    RmaPair pair(small_chunks);
    std::vector<int> memory(10, 7);
    const Window window(pair.b, memory.data(), 40);
    RmaTestOperation before(10), behind(10), after(10);
    ok(before.start(What::accumulate, pair.a, window.key(), 0), "accumulate");
    ok(ucd_ucx_fence(pair.a.rma, pair.a.ep()), "fence");
    ok(behind.start(What::accumulate, pair.a, window.key(), 0), "accumulate");
    ok(ucd_ucx_lose_endpoint(pair.a.rma, pair.a.ep(), UCS_ERR_TIMED_OUT), "lose");
    ok(after.start(What::accumulate, pair.a, window.key(), 0), "accumulate");
    pair.until([&] { return before.done() && behind.done() && after.done(); });
    CHECK(before.status() == UCS_ERR_TIMED_OUT);
    CHECK(behind.status() == UCS_ERR_TIMED_OUT);
    CHECK(after.status() == UCS_OK);
    CHECK(std::count(memory.begin(), memory.end(), 9) == 10); // the one behind was never sent
}

DEVICE_TEST("an endpoint that cannot be given up for lack of memory is not said to be") {
    RmaPair pair;
    const auto lose = [&] {
        return ucd_ucx_lose_endpoint(pair.a.rma, pair.a.ep(), UCS_ERR_TIMED_OUT);
    };
    int failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        pair.progress(); // handles what was lost
        fail_allocation(nth);
        const int rc = lose();
        if (end_failing()) {
            CHECK(rc == UCD_SUCCESS);
            break;
        }
        CHECK(rc == UCD_ERR__OUT_OF_MEM);
        ++failed;
    }
    CHECK(failed >= 1);
}

} // namespace rma_faults_test
