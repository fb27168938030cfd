// What ucd.check=handles finds: handles that were freed, that are none, or of another kind.
#include "c_api/every_call.hpp"

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

// Those of every_call() that take such a handle, by how they are written there.
template <class Kind>
std::vector<Call> calls_with(const char *written, Kind HandlesOfCall::*member) {
    std::vector<Call> calls;
    for (const EveryCall &c : every_call())
        if (c.takes(written))
            calls.push_back({c.function, std::is_same_v<Kind, ucd_info_t> ? "info" : c.argument,
                             [member, call = c.call](Outputs &o, void *h) {
                                 HandlesOfCall handles;
                                 handles.*member = static_cast<Kind>(h);
                                 return call(o, handles);
                             }});
    return calls;
}

// A function that needs no running library, or takes an address of a handle.
#define TAKES(kind, function, argument, ...)                                                       \
    {                                                                                              \
#function, argument,                                                                       \
            []([[maybe_unused]] Outputs & o, void *h) {                                            \
                auto x = static_cast<kind>(h);                                                     \
                return function(__VA_ARGS__);                                                      \
            }       \
    }

std::vector<Call> calls_with_types() {
    static ucd_move_t moves[2];
    static char in[64], out[64];
    const auto move = [](bool of_output, auto start) {
        return [of_output, start](Outputs &o, void *h) {
            const auto x = static_cast<ucd_type_t>(h);
            moves[0] = pack_move(in, 1, int_, 0, out, 4);
            moves[1] = copy_move(in, 1, of_output ? int_ : x, out, 1, of_output ? x : int_);
            return start(o);
        };
    };
    std::vector<Call> calls = calls_with("h.type", &HandlesOfCall::type);
    calls.push_back(TAKES(ucd_type_t, ucd_free, "*type", &x));
    calls.push_back({"ucd_device_plan_create", "type", [](Outputs &, void *h) {
                         ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
                         return ucd_device_plan_create(1, static_cast<ucd_type_t>(h), "cuda:0",
                                                       nullptr, &plan);
                     }});
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
    std::vector<Call> calls = calls_with("h.info", &HandlesOfCall::info);
    for (const Call &call : std::vector<Call>{
             TAKES(ucd_info_t, ucd_init, "info", x),
             TAKES(ucd_info_t, ucd_info_set, "info", x, "a", "b"),
             TAKES(ucd_info_t, ucd_info_get, "info", x, "a", o.text, 9, &o.size),
             TAKES(ucd_info_t, ucd_info_get_nthkey, "info", x, 0, o.text, 9, &o.size),
             TAKES(ucd_info_t, ucd_info_free, "*info", &x),
         })
        calls.push_back(call);
    return calls;
}

std::vector<Call> calls_with_others() {
    std::vector<Call> calls = calls_with("h.plan", &HandlesOfCall::plan);
    for (const Call &call : std::vector<Call>{
             TAKES(ucd_plan_t, ucd_plan_free, "*plan", &x),
             TAKES(ucd_request_t, ucd_test, "*request", &x, &o.number),
             TAKES(ucd_request_t, ucd_wait, "*request", &x),
             TAKES(ucd_request_t, ucd_waitall, "one of requests", 1, &x),
         })
        calls.push_back(call);
    return calls;
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
