// What ucd.check=handles finds: handles that were freed, that are none, or of another kind.
#include "c_api/refusal.hpp"

#include "support/moves/move_list.hpp"

#include <ucd_device.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace handles_test {

using namespace ucdtest;

namespace {

// The library with or without the check, for the length of a test.
class Checked {
public:
    explicit Checked(const char *value = "handles") {
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        ucd_info_t info;
        REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
        REQUIRE(ucd_info_set(info, "ucd.check", value) == UCD_SUCCESS);
        REQUIRE(ucd_init(info) == UCD_SUCCESS);
        REQUIRE(ucd_info_free(&info) == UCD_SUCCESS);
    }
    Checked(const Checked &) = delete;
    Checked &operator=(const Checked &) = delete;
    ~Checked() {
        ucd_finalize();
        ucd_init(UCD_INFO__NULL);
    }
};

template <class To>
To as(const void *from) {
    return reinterpret_cast<To>(const_cast<void *>(from));
}

// One handle of each kind.
struct Handles {
    ucd_type_t type = nullptr;
    ucd_info_t info = nullptr;
    ucd_plan_t plan = nullptr;
    char from[64] = {}, to[64] = {};
    Handles() {
        REQUIRE(make_vector(&type) == UCD_SUCCESS);
        REQUIRE(ucd_info_create(&info) == UCD_SUCCESS);
        ucd_move_t move = pack_move(from, 1, type, 0, to, packed);
        REQUIRE(ucd_plan_create(&move, 1, info, replace, &plan) == UCD_SUCCESS);
    }
    Handles(const Handles &) = delete;
    Handles &operator=(const Handles &) = delete;
    ~Handles() {
        ucd_plan_free(&plan);
        ucd_info_free(&info);
        ucd_free(&type);
    }
};

// A call with good arguments, but for one handle, which `argument` names.
struct Call {
    const char *function, *argument;
    std::function<int(Outputs &, void *)> call;
};

std::vector<Call> calls_with_types() {
    static const std::intptr_t one[] = {1};
    static const int one_int[] = {1}, distribs[] = {UCD_DISTRIBUTE__BLOCK};
    static const ucd_stream_t seq = {"seq", 0, nullptr, nullptr, 0};
    static ucd_move_t moves[2];
    static char in[64], out[64];
#define TAKES(kind, function, argument, ...)                                                       \
    {                                                                                              \
#function, argument,                                                                       \
            []([[maybe_unused]] Outputs & o, void *h) {                                            \
                [[maybe_unused]] auto x = static_cast<kind>(h);                                    \
                return function(__VA_ARGS__);                                                      \
            }       \
    }
#define TYPE(function, argument, ...) TAKES(ucd_type_t, function, argument, __VA_ARGS__)
    const auto move = [](bool of_output, auto start) {
        return [of_output, start](Outputs &o, void *h) {
            const auto x = static_cast<ucd_type_t>(h);
            moves[0] = pack_move(in, 1, int_, 0, out, 4);
            moves[1] = copy_move(in, 1, of_output ? int_ : x, out, 1, of_output ? x : int_);
            return start(o);
        };
    };
    std::vector<Call> calls = {
        TYPE(ucd_op_is_supported, "type", UCD_OP__SUM, x, "seq", &o.number),
        TYPE(ucd_create_contig, "oldtype", 1, x, nullptr, &o.type),
        TYPE(ucd_create_dup, "oldtype", x, nullptr, &o.type),
        TYPE(ucd_create_vector, "oldtype", 1, 1, 1, x, nullptr, &o.type),
        TYPE(ucd_create_hvector, "oldtype", 1, 1, 1, x, nullptr, &o.type),
        TYPE(ucd_create_indexed_block, "oldtype", 1, 1, one, x, nullptr, &o.type),
        TYPE(ucd_create_hindexed_block, "oldtype", 1, 1, one, x, nullptr, &o.type),
        TYPE(ucd_create_indexed_block_ref, "oldtype", 1, 1, one, UCD_TYPE__INT64_T, 4, 0, 8, x,
             nullptr, &o.type),
        TYPE(ucd_create_indexed, "oldtype", 1, one, one, x, nullptr, &o.type),
        TYPE(ucd_create_hindexed, "oldtype", 1, one, one, x, nullptr, &o.type),
        TYPE(ucd_create_struct, "types[0]", 1, one, one, &x, nullptr, &o.type),
        TYPE(ucd_create_subarray, "oldtype", 1, one, one, one, UCD_ORDER__C, x, nullptr, &o.type),
        TYPE(ucd_create_darray, "oldtype", 1, 0, 1, one, distribs, one, one_int, UCD_ORDER__C, x,
             nullptr, &o.type),
        TYPE(ucd_create_ndarray, "oldtype", 1, one, one, x, nullptr, &o.type),
        TYPE(ucd_create_resized, "oldtype", x, 0, 8, nullptr, &o.type),
        TYPE(ucd_get_size, "type", x, &o.size),
        TYPE(ucd_get_extent, "type", x, &o.lb, &o.extent),
        TYPE(ucd_get_true_extent, "type", x, &o.lb, &o.extent),
        TYPE(ucd_get_layout, "type", 1, x, &o.layout),
        TYPE(ucd_get_advice, "type", 1, x, 0, 0, &o.advice),
        TYPE(ucd_get_memory, "type", nullptr, 1, x, nullptr, o.text, sizeof o.text, &o.size),
        TYPE(ucd_describe, "type", x, o.text, sizeof o.text, &o.size),
        TYPE(ucd_pack, "type", in, 1, x, 0, out, 64, &o.size, nullptr, replace),
        TYPE(ucd_unpack, "type", in, 64, out, 1, x, 0, &o.size, nullptr, replace),
        TYPE(ucd_ipack, "type", in, 1, x, 0, out, 64, &o.size, nullptr, replace, &o.request),
        TYPE(ucd_iunpack, "type", in, 64, out, 1, x, 0, &o.size, nullptr, replace, &o.request),
        TYPE(ucd_copy, "intype", in, 1, x, out, 1, int_, &o.size, nullptr, replace),
        TYPE(ucd_copy, "outtype", in, 1, int_, out, 1, x, &o.size, nullptr, replace),
        TYPE(ucd_icopy, "outtype", in, 1, int_, out, 1, x, &o.size, nullptr, replace, &o.request),
        TYPE(ucd_copy_stream, "intype", in, 1, x, out, 1, int_, &o.size, nullptr, replace, seq),
        TYPE(ucd_iov_len, "type", 1, x, &o.size),
        TYPE(ucd_iov_len_max, "type", 1, x, 64, &o.size, &o.other_size),
        TYPE(ucd_iov, "type", in, 1, x, 0, o.entries, 4, &o.size),
        TYPE(ucd_iov_bytes, "type", in, 1, x, 0, 64, o.entries, 4, &o.size, &o.other_size),
        TYPE(ucd_get_boxes, "type", 1, x, 0, o.boxes, 2, &o.size, &o.other_size),
        TYPE(ucd_get_elements, "type", 1, x, 4, &o.size),
        TYPE(ucd_element_boundary, "type", 1, x, 0, &o.size),
        TYPE(ucd_get_element_runs, "type", 1, x, 0, o.runs, 2, &o.size, &o.other_size),
        TYPE(ucd_flatten_size, "type", x, &o.size),
        TYPE(ucd_flatten, "type", x, o.data, sizeof o.data),
        {"ucd_free", "*type",
         [](Outputs &, void *h) {
             auto x = static_cast<ucd_type_t>(h);
             return ucd_free(&x);
         }},
        {"ucd_device_plan_create", "type",
         [](Outputs &, void *h) {
             ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
             return ucd_device_plan_create(1, static_cast<ucd_type_t>(h), "cuda:0", nullptr, &plan);
         }},
    };
    for (const bool of_output : {false, true}) {
        const char *const argument = of_output ? "moves[1]: outtype" : "moves[1]: intype";
        calls.push_back({"ucd_move", argument, move(of_output, [](Outputs &) {
                             return ucd_move(moves, 2, nullptr, replace);
                         })});
        calls.push_back({"ucd_imove", argument, move(of_output, [](Outputs &o) {
                             return ucd_imove(moves, 2, nullptr, replace, &o.request);
                         })});
        calls.push_back({"ucd_plan_create", argument, move(of_output, [](Outputs &o) {
                             return ucd_plan_create(moves, 2, nullptr, replace, &o.plan);
                         })});
    }
    return calls;
}

std::vector<Call> calls_with_infos() {
    static const std::intptr_t one[] = {1};
    static const int one_int[] = {1}, distribs[] = {UCD_DISTRIBUTE__BLOCK};
    static char in[64], out[64];
    static ucd_move_t move = pack_move(in, 1, int_, 0, out, 4);
    static const ucd_stream_t seq = {"seq", 0, nullptr, nullptr, 0};
#define INFO_OF(function, ...) TAKES(ucd_info_t, function, "info", __VA_ARGS__)
    return {
        INFO_OF(ucd_init, x),
        INFO_OF(ucd_info_set, x, "a", "b"),
        INFO_OF(ucd_info_get, x, "a", o.text, 9, &o.size),
        INFO_OF(ucd_info_get_nthkey, x, 0, o.text, 9, &o.size),
        {"ucd_info_free", "*info",
         [](Outputs &, void *h) {
             auto x = static_cast<ucd_info_t>(h);
             return ucd_info_free(&x);
         }},
        INFO_OF(ucd_create_contig, 1, int_, x, &o.type),
        INFO_OF(ucd_create_dup, int_, x, &o.type),
        INFO_OF(ucd_create_vector, 1, 1, 1, int_, x, &o.type),
        INFO_OF(ucd_create_hvector, 1, 1, 1, int_, x, &o.type),
        INFO_OF(ucd_create_indexed_block, 1, 1, one, int_, x, &o.type),
        INFO_OF(ucd_create_hindexed_block, 1, 1, one, int_, x, &o.type),
        INFO_OF(ucd_create_indexed, 1, one, one, int_, x, &o.type),
        INFO_OF(ucd_create_hindexed, 1, one, one, int_, x, &o.type),
        INFO_OF(ucd_create_struct, 1, one, one, &int_, x, &o.type),
        INFO_OF(ucd_create_subarray, 1, one, one, one, UCD_ORDER__C, int_, x, &o.type),
        INFO_OF(ucd_create_darray, 1, 0, 1, one, distribs, one, one_int, UCD_ORDER__C, int_, x,
                &o.type),
        INFO_OF(ucd_create_ndarray, 1, one, one, int_, x, &o.type),
        INFO_OF(ucd_create_resized, int_, 0, 8, x, &o.type),
        INFO_OF(ucd_get_memory, nullptr, 1, int_, x, o.text, sizeof o.text, &o.size),
        INFO_OF(ucd_pack, in, 1, int_, 0, out, 4, &o.size, x, replace),
        INFO_OF(ucd_iunpack, in, 4, out, 1, int_, 0, &o.size, x, replace, &o.request),
        INFO_OF(ucd_copy, in, 1, int_, out, 1, int_, &o.size, x, replace),
        INFO_OF(ucd_pack_stream, in, 1, int_, 0, out, 4, &o.size, x, replace, seq),
        INFO_OF(ucd_copy_stream, in, 1, int_, out, 1, int_, &o.size, x, replace, seq),
        INFO_OF(ucd_prepare, 1, int_, replace, seq, x),
        INFO_OF(ucd_move, &move, 1, x, replace),
        INFO_OF(ucd_imove, &move, 1, x, replace, &o.request),
        INFO_OF(ucd_move_stream, &move, 1, x, replace, seq),
        INFO_OF(ucd_plan_create, &move, 1, x, replace, &o.plan),
    };
}

std::vector<Call> calls_with_others() {
    static const ucd_stream_t seq = {"seq", 0, nullptr, nullptr, 0};
#define PLAN(function, argument, ...) TAKES(ucd_plan_t, function, argument, __VA_ARGS__)
#define REQUEST(function, argument, ...) TAKES(ucd_request_t, function, argument, __VA_ARGS__)
    return {
        PLAN(ucd_plan_start, "plan", x, &o.request),
        PLAN(ucd_plan_start_stream, "plan", x, seq),
        PLAN(ucd_plan_start_with, "plan", x, nullptr, nullptr, &o.request),
        PLAN(ucd_plan_start_with_stream, "plan", x, nullptr, nullptr, seq),
        PLAN(ucd_plan_rebase, "plan", x, 0, 0, nullptr, nullptr),
        PLAN(ucd_plan_free, "*plan", &x),
        REQUEST(ucd_test, "*request", &x, &o.number),
        REQUEST(ucd_wait, "*request", &x),
        REQUEST(ucd_waitall, "one of requests", 1, &x),
    };
}

void refuse_all(const std::vector<Call> &calls, const void *handle, const char *what) {
    Refusals r;
    for (const Call &c : calls)
        r.invalid(c.function, std::string(c.argument) + " is 0x",
                  [&] { return c.call(r.out, const_cast<void *>(handle)); });
    for (const Call &c : calls) {
        c.call(r.out, const_cast<void *>(handle));
        const std::string message = ucd_last_error();
        INFO(message);
        CHECK(message.find(what) != std::string::npos);
    }
}

} // namespace

TEST_CASE("With ucd.check=handles every function refuses handles that are none") {
    const Checked checked;
    const Handles good;
    Handles freed;
    const void *const type = freed.type, *const info = freed.info, *const plan = freed.plan;
    // A type that is still in use is freed all the same.
    const Handle user([&](ucd_type_t *t) { return ucd_create_contig(2, freed.type, nullptr, t); });
    REQUIRE(ucd_free(&freed.type) == UCD_SUCCESS);
    REQUIRE(ucd_info_free(&freed.info) == UCD_SUCCESS);
    REQUIRE(ucd_plan_free(&freed.plan) == UCD_SUCCESS);
    char on_stack[sizeof(void *) * 8] = {};
    const std::vector<char> in_heap(4096);
    const auto types = calls_with_types(), infos = calls_with_infos(), others = calls_with_others();
    for (const auto *calls : {&types, &infos, &others}) {
        const bool of_types = calls == &types, of_infos = calls == &infos;
        refuse_all(*calls, on_stack, "which is no handle of this libucd");
        refuse_all(*calls, in_heap.data() + 2048, "which is no handle of this libucd");
        refuse_all(*calls, of_types ? type : of_infos ? info : plan, "which was freed");
        if (!of_types) refuse_all(*calls, good.type, "which is a type and not ");
        if (!of_infos) refuse_all(*calls, good.info, "which is an info and not ");
        if (of_types || of_infos) refuse_all(*calls, good.plan, "which is a plan and not ");
    }
    // Good handles of each kind still are.
    std::uintptr_t size = 0;
    CHECK(ucd_get_size(user, &size) == UCD_SUCCESS);
    CHECK(size == 2 * packed);
    CHECK(ucd_pack(good.from, 1, good.type, 0, on_stack, packed, &size, good.info, replace) ==
          UCD_SUCCESS);
    ucd_request_t request;
    CHECK(ucd_plan_start(good.plan, &request) == UCD_SUCCESS);
    CHECK(ucd_wait(&request) == UCD_SUCCESS);
}

TEST_CASE("An address that comes again has the kind of its last handle") {
    const Checked checked;
    std::uintptr_t size;
    for (int i = 0; i < 20000; ++i) {
        ucd_type_t type;
        REQUIRE(make_vector(&type) == UCD_SUCCESS);
        const ucd_type_t old = type;
        const bool good = ucd_get_size(type, &size) == UCD_SUCCESS;
        const bool freed = ucd_free(&type) == UCD_SUCCESS;
        ucd_type_t twice = old;
        const bool refused = ucd_free(&twice) == UCD_ERR__INVALID_ARG;
        if (!good || !freed || !refused) FAIL(i);
    }
}

TEST_CASE("Handles are checked in several threads, and until the library is started without") {
    {
        const Checked checked;
        std::atomic<int> faults{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([&faults] {
                std::vector<ucd_type_t> types(64);
                std::uintptr_t size;
                for (int round = 0; round < 50; ++round) {
                    for (ucd_type_t &type : types)
                        if (make_vector(&type) != UCD_SUCCESS) ++faults;
                    ucd_info_t info;
                    if (ucd_info_create(&info) != UCD_SUCCESS) ++faults;
                    if (ucd_get_size(as<ucd_type_t>(info), &size) == UCD_SUCCESS) ++faults;
                    for (ucd_type_t &type : types)
                        if (ucd_get_size(type, &size) != UCD_SUCCESS ||
                            ucd_free(&type) != UCD_SUCCESS)
                            ++faults;
                    if (ucd_info_free(&info) != UCD_SUCCESS) ++faults;
                }
            });
        for (std::thread &thread : threads) thread.join();
        CHECK(faults == 0);
    }
    // Handles of before are good in another run of the library; after one without the check, those
    // that it made are not.
    ucd_type_t early, late;
    std::uintptr_t size;
    {
        const Checked checked;
        REQUIRE(make_vector(&early) == UCD_SUCCESS);
    }
    REQUIRE(make_vector(&late) == UCD_SUCCESS);
    {
        const Checked checked;
        CHECK(ucd_get_size(early, &size) == UCD_SUCCESS);
        CHECK(ucd_get_size(late, &size) == UCD_ERR__INVALID_ARG);
    }
    {
        const Checked off("none");
        CHECK(ucd_get_size(late, &size) == UCD_SUCCESS);
    }
    CHECK(ucd_free(&early) == UCD_SUCCESS);
    CHECK(ucd_free(&late) == UCD_SUCCESS);
}

TEST_CASE("Without the check, memory that is no type is not taken for a type without REPLACE") {
    Refusals r;
    const std::vector<std::uint64_t> zeros(512);
    const auto none = as<ucd_type_t>(zeros.data());
    char in[8] = {}, out[8];
    for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
        r.invalid("ucd_pack", "there is no type at 0x",
                  [&] { return ucd_pack(in, 1, none, 0, out, 8, &r.out.size, nullptr, op); });
        r.invalid("ucd_copy", "there is no type at 0x",
                  [&] { return ucd_copy(in, 1, none, out, 1, int_, &r.out.size, nullptr, op); });
    }
}

} // namespace handles_test
