// What is valid before the first ucd_init, between two and after the last ucd_finalize.
#include "c_api/refusal.hpp"

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
    static const std::intptr_t one[] = {1};
    static const ucd_type_t types[] = {UCD_TYPE__INT};
    static const int one_int[] = {1}, distribs[] = {UCD_DISTRIBUTE__BLOCK};
    static const ucd_stream_t stream = {"cuda", 0, nullptr, nullptr, 0};
    static unsigned char in[8];
    static const ucd_ipc_handle_t no_handle = {};
    static ucd_move_t move = UCD_MOVE__INIT;
#define CALL(function, ...)                                                                        \
    {                                                                                              \
#function, []([[maybe_unused]] Outputs & o) { return function(__VA_ARGS__); }              \
    }
    return {
        CALL(ucd_backend_count, &o.number),
        CALL(ucd_backend_get, 0, &o.backend),
        CALL(ucd_op_is_supported, UCD_OP__SUM, int_, "seq", &o.number),
        CALL(ucd_create_contig, 1, int_, nullptr, &o.type),
        CALL(ucd_create_dup, int_, nullptr, &o.type),
        CALL(ucd_create_vector, 1, 1, 1, int_, nullptr, &o.type),
        CALL(ucd_create_hvector, 1, 1, 1, int_, nullptr, &o.type),
        CALL(ucd_create_indexed_block, 1, 1, one, int_, nullptr, &o.type),
        CALL(ucd_create_hindexed_block, 1, 1, one, int_, nullptr, &o.type),
        CALL(ucd_create_indexed_block_ref, 1, 1, one, UCD_TYPE__INT64_T, 4, 0, 8, int_, nullptr,
             &o.type),
        CALL(ucd_create_indexed, 1, one, one, int_, nullptr, &o.type),
        CALL(ucd_create_hindexed, 1, one, one, int_, nullptr, &o.type),
        CALL(ucd_create_struct, 1, one, one, types, nullptr, &o.type),
        CALL(ucd_create_subarray, 1, one, one, one, UCD_ORDER__C, int_, nullptr, &o.type),
        CALL(ucd_create_darray, 1, 0, 1, one, distribs, one, one_int, UCD_ORDER__C, int_, nullptr,
             &o.type),
        CALL(ucd_create_ndarray, 1, one, one, int_, nullptr, &o.type),
        CALL(ucd_create_resized, int_, 0, 8, nullptr, &o.type),
        CALL(ucd_get_size, int_, &o.size),
        CALL(ucd_get_extent, int_, &o.lb, &o.extent),
        CALL(ucd_get_true_extent, int_, &o.lb, &o.extent),
        CALL(ucd_get_layout, 1, int_, &o.layout),
        CALL(ucd_get_advice, 1, int_, 0, 0, &o.advice),
        CALL(ucd_get_memory, nullptr, 1, int_, nullptr, o.text, sizeof o.text, &o.size),
        CALL(ucd_describe, int_, o.text, sizeof o.text, &o.size),
        CALL(ucd_ipack, in, 1, int_, 0, o.data, 4, &o.size, nullptr, UCD_OP__REPLACE, &o.request),
        CALL(ucd_iunpack, in, 4, o.data, 1, int_, 0, &o.size, nullptr, UCD_OP__REPLACE, &o.request),
        CALL(ucd_pack, in, 1, int_, 0, o.data, 4, &o.size, nullptr, UCD_OP__REPLACE),
        CALL(ucd_unpack, in, 4, o.data, 1, int_, 0, &o.size, nullptr, UCD_OP__REPLACE),
        CALL(ucd_icopy, in, 1, int_, o.data, 1, int_, &o.size, nullptr, UCD_OP__REPLACE,
             &o.request),
        CALL(ucd_copy, in, 1, int_, o.data, 1, int_, &o.size, nullptr, UCD_OP__REPLACE),
        CALL(ucd_pack_stream, in, 1, int_, 0, o.data, 4, &o.size, nullptr, UCD_OP__REPLACE, stream),
        CALL(ucd_unpack_stream, in, 4, o.data, 1, int_, 0, &o.size, nullptr, UCD_OP__REPLACE,
             stream),
        CALL(ucd_copy_stream, in, 1, int_, o.data, 1, int_, &o.size, nullptr, UCD_OP__REPLACE,
             stream),
        CALL(ucd_imove, &move, 1, nullptr, UCD_OP__REPLACE, &o.request),
        CALL(ucd_move, &move, 1, nullptr, UCD_OP__REPLACE),
        CALL(ucd_move_stream, &move, 1, nullptr, UCD_OP__REPLACE, stream),
        CALL(ucd_plan_create, &move, 1, nullptr, UCD_OP__REPLACE, &o.plan),
        CALL(ucd_plan_start, nullptr, &o.request),
        CALL(ucd_plan_start_stream, nullptr, stream),
        CALL(ucd_plan_start_with, nullptr, nullptr, nullptr, &o.request),
        CALL(ucd_plan_start_with_stream, nullptr, nullptr, nullptr, stream),
        CALL(ucd_plan_rebase, nullptr, 0, 0, nullptr, nullptr),
        CALL(ucd_prepare, 1, int_, UCD_OP__REPLACE, stream, nullptr),
        CALL(ucd_iov_len, 1, int_, &o.size),
        CALL(ucd_iov_len_max, 1, int_, 4, &o.size, &o.other_size),
        CALL(ucd_iov, in, 1, int_, 0, o.entries, 4, &o.size),
        CALL(ucd_iov_bytes, in, 1, int_, 0, 4, o.entries, 4, &o.size, &o.other_size),
        CALL(ucd_get_boxes, 1, int_, 0, o.boxes, 2, &o.size, &o.other_size),
        CALL(ucd_get_elements, 1, int_, 2, &o.size),
        CALL(ucd_element_boundary, 1, int_, 2, &o.size),
        CALL(ucd_get_element_runs, 1, int_, 0, o.runs, 2, &o.size, &o.other_size),
        CALL(ucd_flatten_size, int_, &o.size),
        CALL(ucd_flattened_size, o.data, sizeof o.data, &o.size),
        CALL(ucd_flatten, int_, o.data, sizeof o.data),
        CALL(ucd_unflatten, &o.type, o.data, sizeof o.data),
        CALL(ucd_memory_alloc, "cuda:0", UCD_MEMORY__PINNED, 8, &o.address),
        CALL(ucd_memory_free, in),
        CALL(ucd_ipc_export, in, 8, &o.handle),
        CALL(ucd_ipc_open, &no_handle, "cuda:0", &o.address, &o.size),
        CALL(ucd_ipc_export_fds, in, 8, &o.handle, nullptr, nullptr),
        CALL(ucd_ipc_open_fds, &no_handle, nullptr, 0, "cuda:0", &o.address, &o.size),
        CALL(ucd_ipc_close, in),
        CALL(ucd_finalize),
    };
}

// The same with the worst arguments there are: NOT_INITIALIZED is checked first.
std::vector<NamedCall> calls_with_bad_arguments() {
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
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    {
        const Handle list([&](ucd_type_t *type) {
            return ucd_create_indexed_block(entries, 1, displs.data(), UCD_TYPE__BYTE, nullptr,
                                            type);
        });
        std::uintptr_t bytes = 0;
        CHECK(ucd_pack(in.data(), 1, list, 0, packed.data(), packed.size(), &bytes, nullptr,
                       UCD_OP__REPLACE) == UCD_SUCCESS);
    }
    CHECK(live_bytes() > live + list_bytes);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(live_bytes() < live + list_bytes / 8);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace life_cycle_test
