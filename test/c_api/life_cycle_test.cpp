// What is valid before the first ucd_init, between two and after the last ucd_finalize.
#include "c_api/every_call.hpp"

#include <functional>
#include <string>
#include <vector>

namespace life_cycle_test {

using namespace ucdtest;

namespace {

struct NamedCall {
    std::string function;
    std::function<int(Outputs &)> call;
};

// Every function that needs the library to run, with good arguments.
std::vector<NamedCall> calls_that_need_init() {
    std::vector<NamedCall> calls;
    for (const EveryCall &c : every_call())
        calls.push_back({c.function, [call = c.call](Outputs &o) {
                             HandlesOfCall good;
                             return call(o, good);
                         }});
    return calls;
}

// The worst arguments there are: NOT_INITIALIZED is checked first.
std::vector<NamedCall> calls_with_bad_arguments() {
#define CALL(function, ...)                                                                        \
    {                                                                                              \
#function, []([[maybe_unused]] Outputs & o) { return function(__VA_ARGS__); }              \
    }
    return {
        CALL(ucd_backend_get, -1, nullptr),
        CALL(ucd_create_contig, -1, UCD_TYPE__NULL, nullptr, nullptr),
        CALL(ucd_create_struct, -1, nullptr, nullptr, nullptr, nullptr, nullptr),
        CALL(ucd_get_size, UCD_TYPE__NULL, nullptr),
        CALL(ucd_pack, nullptr, 1, UCD_TYPE__NULL, 9, nullptr, 4, nullptr, nullptr, -1),
        CALL(ucd_ipack, nullptr, 1, UCD_TYPE__NULL, 9, nullptr, 4, nullptr, nullptr, -1, nullptr),
        CALL(ucd_icopy, nullptr, 1, UCD_TYPE__NULL, nullptr, 1, int_, nullptr, nullptr, 99,
             nullptr),
        CALL(ucd_imove, nullptr, 1, nullptr, -1, nullptr),
        CALL(ucd_prepare, 1, UCD_TYPE__NULL, -1, {}, nullptr),
        CALL(ucd_iov_len, 1, UCD_TYPE__NULL, nullptr),
        CALL(ucd_get_boxes, 1, UCD_TYPE__NULL, 9, nullptr, 1, nullptr, nullptr),
        CALL(ucd_flattened_size, nullptr, 5, nullptr),
        CALL(ucd_unflatten, nullptr, nullptr, 5),
        CALL(ucd_memory_alloc, nullptr, -1, 0, nullptr),
        CALL(ucd_ipc_open, nullptr, nullptr, nullptr, nullptr),
        CALL(ucd_ipc_get_device, nullptr, nullptr, 7, nullptr),
    };
}

// Made by static initialisers, before main() calls ucd_init. Catch is not to be used there.
struct Early {
    struct Result {
        std::string function, message;
        int rc;
        bool unchanged;
    };
    std::vector<Result> results;
    std::string first_message = ucd_last_error();
    int major = -1, minor = -1, patch = -1, version = ucd_version(&major, &minor, &patch);
    std::string strerror_text = ucd_strerror(UCD_ERR__CORRUPT);
    int info_created, info_set, info_set_badly, info_freed;
    ucd_info_t info = UCD_INFO__NULL;

    Early() {
        info_created = ucd_info_create(&info);
        info_set = ucd_info_set(info, "ucd.threads", "2");
        info_set_badly = ucd_info_set(info, "ucd.threads", "none");
        info_freed = ucd_info_free(&info);
        for (const auto &calls :
             {calls_that_need_init(), calls_with_bad_arguments(), calls_of_handles()})
            for (const NamedCall &c : calls) run(c);
    }

    // Valid after the last ucd_finalize, but not before the first ucd_init.
    static std::vector<NamedCall> calls_of_handles() {
        static ucd_type_t type = UCD_TYPE__INT;
        static ucd_request_t request = UCD_REQUEST__NULL;
        static ucd_plan_t plan = UCD_PLAN__NULL;
        return {CALL(ucd_free, &type), CALL(ucd_test, &request, &o.number),
                CALL(ucd_wait, &request), CALL(ucd_waitall, 1, &request),
                CALL(ucd_plan_free, &plan)};
    }

    void run(const NamedCall &c) {
        static Outputs out, before;
        std::memset(static_cast<void *>(&out), pattern, sizeof out);
        out.layout.struct_size = sizeof out.layout;
        out.advice.struct_size = sizeof out.advice;
        out.backend.struct_size = sizeof out.backend;
        before = out;
        const int rc = c.call(out);
        results.push_back(
            {c.function, ucd_last_error(), rc, std::memcmp(&out, &before, sizeof out) == 0});
    }
} const early;

} // namespace

TEST_CASE("Before the first ucd_init") {
    CHECK(early.first_message.empty());
    CHECK(early.version == UCD_SUCCESS);
    CHECK(early.major == UCD_VERSION_MAJOR);
    CHECK(early.minor == UCD_VERSION_MINOR);
    CHECK(early.patch == UCD_VERSION_PATCH);
    CHECK(early.strerror_text == "UCD_ERR__CORRUPT");
    CHECK(early.info_created == UCD_SUCCESS);
    CHECK(early.info_set == UCD_SUCCESS);
    CHECK(early.info_set_badly == UCD_ERR__INVALID_ARG);
    CHECK(early.info_freed == UCD_SUCCESS);
    for (const Early::Result &result : early.results) {
        INFO(result.function << ": " << result.message);
        CHECK(result.rc == UCD_ERR__NOT_INITIALIZED);
        CHECK(result.message.substr(0, result.function.size() + 2) == result.function + ": ");
        CHECK(result.message.find("ucd_init") != std::string::npos);
        CHECK(result.unchanged);
    }
}

// main() has made the one ucd_init that there is.
TEST_CASE("After the last ucd_finalize") {
    ucd_type_t kept = UCD_TYPE__NULL, derived = UCD_TYPE__NULL;
    REQUIRE(ucd_create_vector(3, 2, 4, int_, nullptr, &kept) == UCD_SUCCESS);
    REQUIRE(ucd_create_contig(3, kept, nullptr, &derived) == UCD_SUCCESS);
    std::uintptr_t bytes = 0;
    unsigned char in[64] = {}, packed[24];
    REQUIRE(ucd_pack(in, 1, kept, 0, packed, 24, &bytes, nullptr, UCD_OP__REPLACE) == UCD_SUCCESS);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    {
        Refusals r;
        for (const auto &calls : {calls_that_need_init(), calls_with_bad_arguments()})
            for (const NamedCall &c : calls)
                r.refused(c.function.c_str(), UCD_ERR__NOT_INITIALIZED, "ucd_init",
                          [&] { return c.call(r.out); });
    }
    CHECK(ucd_free(&kept) == UCD_SUCCESS);
    CHECK(kept == UCD_TYPE__NULL);
    ucd_type_t predefined = int_;
    CHECK(ucd_free(&predefined) == UCD_ERR__INVALID_ARG);
    ucd_request_t request = UCD_REQUEST__NULL;
    int completed = 0;
    CHECK((ucd_test(&request, &completed) == UCD_SUCCESS && completed == 1));
    CHECK(ucd_wait(&request) == UCD_SUCCESS);
    CHECK(ucd_waitall(1, &request) == UCD_SUCCESS);
    CHECK(std::string(ucd_strerror(UCD_SUCCESS)) == "UCD_SUCCESS");
    // Once more, and with a type from before.
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK((ucd_get_size(derived, &bytes) == UCD_SUCCESS && bytes == 72));
    CHECK(ucd_pack(in, 0, derived, 0, packed, 24, &bytes, nullptr, UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(ucd_free(&derived) == UCD_SUCCESS);
}

TEST_CASE("ucd_init is counted") {
    std::uintptr_t size;
    for (int i = 0; i < 5; ++i) REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    for (int i = 0; i < 5; ++i) {
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        REQUIRE(ucd_get_size(int_, &size) == UCD_SUCCESS);
    }
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(ucd_get_size(int_, &size) == UCD_ERR__NOT_INITIALIZED);
    CHECK(ucd_finalize() == UCD_ERR__NOT_INITIALIZED);
    CHECK(ucd_finalize() == UCD_ERR__NOT_INITIALIZED);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK(ucd_get_size(int_, &size) == UCD_SUCCESS);
}

TEST_CASE("Starting and stopping leaks nothing") {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    const std::ptrdiff_t live = live_allocations();
    for (int i = 0; i < 20; ++i) {
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
    }
    CHECK(live_allocations() == live);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

TEST_CASE("Memory of long lists is kept until the last ucd_finalize") {
    constexpr std::ptrdiff_t entries = 1 << 17, list_bytes = 8 * entries;
    std::vector<std::intptr_t> displs;
    for (std::intptr_t i = 0; i < entries; ++i) displs.push_back(3 * i - i % 2);
    std::vector<char> in(3 * entries), packed(entries);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    const std::ptrdiff_t live = live_bytes();
    for (const bool freed_after : {false, true}) {
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        ucd_type_t list = UCD_TYPE__NULL;
        REQUIRE(ucd_create_indexed_block(entries, 1, displs.data(), UCD_TYPE__BYTE, nullptr,
                                         &list) == UCD_SUCCESS);
        std::uintptr_t bytes = 0;
        CHECK(ucd_pack(in.data(), 1, list, 0, packed.data(), packed.size(), &bytes, nullptr,
                       UCD_OP__REPLACE) == UCD_SUCCESS);
        if (!freed_after) CHECK(ucd_free(&list) == UCD_SUCCESS);
        CHECK(live_bytes() > live + list_bytes);
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        CHECK(ucd_free(&list) == UCD_SUCCESS);
        CHECK(live_bytes() < live + list_bytes / 8);
    }
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace life_cycle_test
