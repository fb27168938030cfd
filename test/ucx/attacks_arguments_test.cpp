// NULL for each argument of each function that may not be NULL, handles that have ended, and keys
// of infos that are misspelt.

#include "support/device_test.hpp"
#include "support/named_arguments.hpp"
#include "ucx/rma_pair.hpp"
#include "ucx/strided.hpp"

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace attacks_arguments_test {

using namespace ucdtest;

namespace {

// What the refused calls would write to.
struct Outputs {
    ucd_ucx_request_t request;
    ucd_ucx_t ucx;
    ucd_ucx_window_t window;
    ucp_datatype_t datatype;
    void *buffer;
    std::size_t count;
    ucd_ucx_window_key_t key;
};

// What good arguments are made of.
struct Arguments {
    Outputs out, *o = &out;
    ucp_worker_h worker = nullptr;
    ucp_ep_h ep = nullptr;
    ucd_ucx_t pipeline = nullptr, rma = nullptr;
    ucd_ucx_params_t params = {};
    ucd_ucx_data_t data = nullptr;
    char buffer[64] = {};
};

// A struct of a newer program, with a member that is not known here.
template <class Struct>
struct Newer {
    Struct known;
    std::uint64_t newer;

    Newer(const Struct &from, std::uint64_t value) : known(from), newer(value) {
        known.struct_size = sizeof *this;
    }
};

const ucs_status_t lost = UCS_ERR_CANCELED;
const ucd_type_t t = UCD_TYPE__INT;

template <class Call>
void check_refused(const char *function, const std::string &words, Arguments &a, Call call) {
    std::memset(static_cast<void *>(&a.out), 0xa5, sizeof a.out);
    const Outputs before = a.out;
    const int rc = call();
    const std::string message = ucd_ucx_last_error();
    INFO(function << ": \"" << message << "\" for " << words);
    CHECK(rc == UCD_ERR__INVALID_ARG);
    // The function and the argument that the caller named, and none within.
    CHECK(message.rfind(std::string(function) + ": " + words, 0) == 0);
    const bool unchanged = std::memcmp(&a.out, &before, sizeof before) == 0;
    CHECK(unchanged);
}

// The arguments that have a name must not be NULL.
template <class... Parameters>
void needs(Arguments &a, const char *function, int (*call)(Parameters...),
           const std::array<const char *, sizeof...(Parameters)> &names,
           const std::type_identity_t<Parameters> &...arguments) {
    const auto need = [&](const char *name, const auto &with, auto type) {
        using Argument = typename decltype(type)::type;
        const bool is_type = std::is_same_v<Argument, ucd_type_t>;
        if constexpr (std::is_pointer_v<Argument>)
            check_refused(function, name + std::string(is_type ? " is UCD_TYPE__NULL" : " is NULL"),
                          a, [&] { return with(nullptr); });
    };
    visit_named(call, names, need, arguments...);
}

// A struct of another size: a smaller one, and one with members that are not known here. `create`
// takes its address.
template <class Struct, class Create>
void needs_known_members(Arguments &a, const char *function, const Struct &good,
                         std::uint64_t newer, Create create) {
    Struct small = good;
    small.struct_size = 3;
    check_refused(function, "params->struct_size is 3", a, [&] { return create(&small); });
    const Newer large(good, newer);
    check_refused(function, "params has members that this version", a,
                  [&] { return create(&large.known); });
}

// The function that tells of an endpoint takes no status but an error.
template <class Lose>
void needs_error(Arguments &a, const char *function, Lose lose) {
    for (const auto &[status, name] :
         {std::pair(UCS_OK, "Success"), std::pair(UCS_INPROGRESS, "Operation in progress")})
        check_refused(function, "status is " + std::string(name) + "; it must be an error", a,
                      [&, s = status] { return lose(s); });
}

// The functions that all objects have.
void check_object(Arguments &a, ucd_ucx_t ucx, std::uint16_t families, std::uint64_t newer) {
    a.params.struct_size = sizeof a.params;
    a.params.am_id = am_id + 1;
    a.params.families = families;
    constexpr const char *any = nullptr;
    needs(a, "ucd_ucx_create", ucd_ucx_create, {"worker", "params", any, "ucx"}, a.worker,
          &a.params, nullptr, &a.o->ucx);
    needs_known_members(a, "ucd_ucx_create", a.params, newer, [&](auto *params) {
        return ucd_ucx_create(a.worker, params, nullptr, &a.o->ucx);
    });
    needs(a, "ucd_ucx_destroy", ucd_ucx_destroy, {"ucx"}, &a.o->ucx);
    needs(a, "ucd_ucx_lose_endpoint", ucd_ucx_lose_endpoint, {"ucx", "ep", any}, ucx, a.ep, lost);
    needs_error(a, "ucd_ucx_lose_endpoint",
                [&](ucs_status_t s) { return ucd_ucx_lose_endpoint(ucx, a.ep, s); });
}

} // namespace

DEVICE_TEST("functions of pipelines refuse NULL") {
    TwoSides sides(SMALL_CHUNKS);
    Arguments a;
    a.worker = sides.a.worker;
    a.ep = sides.a.ep;
    a.pipeline = sides.a.pipeline;
    check_object(a, a.pipeline, UCD_UCX_TRANSFERS, 1);
    // Data that a call may be given.
    Told told(sides.a);
    Outcome sent;
    start_active(sides.b, {"data", 4, UCD_TYPE__CHAR}, sent);
    sides.until([&] { return told.times > 0 && sent.done(); });
    a.data = told.data;
    constexpr const char *any = nullptr;
    needs(a, "ucd_ucx_datatype", ucd_ucx_datatype, {"type", any, "ucp_dt"}, t, nullptr,
          &a.o->datatype);
    needs(a, "ucd_ucx_prepare", ucd_ucx_prepare,
          {any, any, "type", any, "ucp_buf", "ucp_count", "ucp_dt"}, a.buffer, 1, t, nullptr,
          &a.o->buffer, &a.o->count, &a.o->datatype);
    needs(a, "ucd_ucx_send_nbx", ucd_ucx_send_nbx,
          {"ucx", "ep", any, any, "type", any, any, "request"}, a.pipeline, a.ep, a.buffer, 1, t, 1,
          nullptr, &a.o->request);
    needs(a, "ucd_ucx_recv_nbx", ucd_ucx_recv_nbx,
          {"ucx", any, any, "type", any, any, any, "request"}, a.pipeline, a.buffer, 1, t, 1, 1,
          nullptr, &a.o->request);
    needs(a, "ucd_ucx_am_send_nbx", ucd_ucx_am_send_nbx,
          {"ucx", "ep", any, "header", any, any, any, "type", any, "request"}, a.pipeline, a.ep, 1,
          "h", 1, a.buffer, 1, t, nullptr, &a.o->request);
    needs(a, "ucd_ucx_am_set_handler", ucd_ucx_am_set_handler, {"ucx", any, any}, a.pipeline,
          nullptr, &a);
    needs(a, "ucd_ucx_am_recv_nbx", ucd_ucx_am_recv_nbx,
          {"ucx", "data", any, any, "type", any, "request"}, a.pipeline, a.data, a.buffer, 1, t,
          nullptr, &a.o->request);
    needs(a, "ucd_ucx_am_drop", ucd_ucx_am_drop, {"ucx", "data"}, a.pipeline, a.data);
    needs(a, "ucd_ucx_cancel", ucd_ucx_cancel, {"ucx", "request"}, a.pipeline, nullptr);
    ok(ucd_ucx_am_drop(sides.a.pipeline, a.data), "ucd_ucx_am_drop");
    const Newer params(a.params, 0);
    ucd_ucx_t other = UCD_UCX__NULL;
    ok(ucd_ucx_create(a.worker, &params.known, UCD_INFO__NULL, &other), "newer params");
    ok(ucd_ucx_destroy(&other), "ucd_ucx_destroy");
    check_usable(sides);
}

DEVICE_TEST("functions of one-sided operations refuse NULL") {
    RmaPair pair;
    std::vector<char> memory(100);
    const Window window(pair.b, memory.data(), memory.size());
    Arguments a;
    a.worker = pair.a.side.worker;
    a.ep = pair.a.ep();
    a.rma = pair.a.rma;
    check_object(a, a.rma, UCD_UCX_ONE_SIDED, std::uint64_t{1} << 63);
    constexpr const char *any = nullptr;
    for (const std::uintptr_t bytes : {1, 8})
        needs(a, "ucd_ucx_window_create", ucd_ucx_window_create,
              {"ucx", "base", any, any, "window"}, a.rma, a.buffer, bytes, nullptr, &a.o->window);
    needs(a, "ucd_ucx_window_key", ucd_ucx_window_key, {"window", "key"}, window.handle, &a.o->key);
    needs(a, "ucd_ucx_window_destroy", ucd_ucx_window_destroy, {"window"}, &a.o->window);
    needs(a, "ucd_ucx_flush_nbx", ucd_ucx_flush_nbx, {"ucx", any, any, "request"}, a.rma, a.ep,
          nullptr, &a.o->request);
    needs(a, "ucd_ucx_fence", ucd_ucx_fence, {"ucx", any}, a.rma, a.ep);
    needs(a, "ucd_ucx_put_nbx", ucd_ucx_put_nbx,
          {"ucx", "ep", any, any, "origin_type", "key", any, any, "target_type", any, "request"},
          a.rma, a.ep, a.buffer, 1, t, window.key(), 0, 1, t, nullptr, &a.o->request);
    needs(a, "ucd_ucx_get_nbx", ucd_ucx_get_nbx,
          {"ucx", "ep", any, any, "origin_type", "key", any, any, "target_type", any, "request"},
          a.rma, a.ep, a.buffer, 1, t, window.key(), 0, 1, t, nullptr, &a.o->request);
    needs(
        a, "ucd_ucx_accumulate_nbx", ucd_ucx_accumulate_nbx,
        {"ucx", "ep", any, any, "origin_type", "key", any, any, "target_type", any, any, "request"},
        a.rma, a.ep, a.buffer, 1, t, window.key(), 0, 1, t, UCD_OP__SUM, nullptr, &a.o->request);
    needs(a, "ucd_ucx_get_accumulate_nbx", ucd_ucx_get_accumulate_nbx,
          {"ucx", "ep", any, any, "origin_type", any, any, "result_type", "key", any, any,
           "target_type", any, any, "request"},
          a.rma, a.ep, a.buffer, 1, t, a.buffer + 32, 1, t, window.key(), 0, 1, t, UCD_OP__SUM,
          nullptr, &a.o->request);
    pair.flush();
}

TEST_CASE("a request that is NULL is complete") {
    ucd_ucx_result_t result;
    std::memset(&result, 0xa5, sizeof result);
    const ucd_ucx_result_t before = result;
    // A program that was compiled with fewer members gets no more.
    for (const std::uint32_t size : {0U, 3U, 8U}) {
        result.struct_size = size;
        CHECK(ucd_ucx_request_check(UCD_UCX_REQUEST__NULL, &result) ==
              (size < 4 ? UCS_ERR_INVALID_PARAM : UCS_OK));
        CHECK(result.struct_size == size);
        CHECK(result.bytes == before.bytes);
    }
    CHECK(std::string(ucd_ucx_last_error()) ==
          "ucd_ucx_request_check: result->struct_size is 3; it must be the size of the struct");
    result.struct_size = sizeof result;
    CHECK(ucd_ucx_request_check(UCD_UCX_REQUEST__NULL, &result) == UCS_OK);
    CHECK(result.struct_size == sizeof result);
    CHECK(result.status == UCS_OK);
    CHECK(result.ucd == UCD_SUCCESS);
    CHECK(result.bytes == 0);
    CHECK(result.tag == 0);
    CHECK(ucd_ucx_request_check(UCD_UCX_REQUEST__NULL, nullptr) == UCS_OK);
    ucd_ucx_request_free(UCD_UCX_REQUEST__NULL);
}

TEST_CASE("handles that are NULL already may be freed") {
    ucd_ucx_t pipeline = UCD_UCX__NULL;
    ucd_ucx_t rma = UCD_UCX__NULL;
    ucd_ucx_window_t window = UCD_UCX_WINDOW__NULL;
    CHECK(ucd_ucx_destroy(&pipeline) == UCD_SUCCESS);
    CHECK(ucd_ucx_destroy(&rma) == UCD_SUCCESS);
    CHECK(ucd_ucx_window_destroy(&window) == UCD_SUCCESS);
}

TEST_CASE("progress of nothing moves nothing") {
    CHECK(ucd_ucx_progress(UCD_UCX__NULL) == 0);
    CHECK(ucd_ucx_progress(UCD_UCX__NULL) == 0);
}

TEST_CASE("what no datatype of the library stands for is released, asked and refused") {
    CHECK(ucd_ucx_release(nullptr, ucp_dt_make_contig(1)) == UCD_SUCCESS);
    CHECK(ucd_ucx_status(ucp_dt_make_contig(1)) == UCD_SUCCESS);
    CHECK(ucd_ucx_status(ucp_dt_make_iov()) == UCD_SUCCESS);
    const ucp_generic_dt_ops_t none = {};
    ucp_datatype_t foreign;
    REQUIRE(ucp_dt_create_generic(&none, nullptr, &foreign) == UCS_OK);
    CHECK(ucd_ucx_release(nullptr, foreign) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_ucx_last_error()).rfind("ucd_ucx_release: ", 0) == 0);
    ucp_dt_destroy(foreign);
}

// Infos -------------------------------------------------------------------

namespace {

// What every function that takes an info needs.
struct Callers {
    TwoSides sides;
    RmaPair pair;
    int memory[4] = {}, here[4] = {};
    Window window{pair.b, memory, sizeof memory};
    const ucd_ucx_window_key_t *key = window.key();
    Told announced{sides.b};
    ucd_ucx_params_t params = {.struct_size = sizeof params,
                               .am_id = am_id + 1,
                               .families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED};

    Callers() { announce(); }
    void announce() {
        const int before = announced.times;
        Outcome sent;
        start_active(sides.a, {here, 4, UCD_TYPE__CHAR}, sent, {});
        sides.until([&] { return announced.times > before && sent.done(); });
    }
};

// Each is called with the info itself, too, and with a param that has it. What it starts ends by
// itself: the receive gets what the send before it has sent.
using Param = const ucd_ucx_param_t *;
using Made = ucd_ucx_request_t *;
const struct {
    const char *function;
    int (*call)(Callers &, ucd_info_t, Param, Made);
} callers[] = {
    {"ucd_ucx_datatype",
     [](Callers &, ucd_info_t info, Param, Made) {
         ucp_datatype_t dt;
         const int rc = ucd_ucx_datatype(t, info, &dt);
         if (rc == UCD_SUCCESS) (void)ucd_ucx_release(nullptr, dt);
         return rc;
     }},
    {"ucd_ucx_prepare",
     [](Callers &c, ucd_info_t info, Param, Made) {
         void *buffer;
         std::size_t count;
         ucp_datatype_t dt;
         const int rc = ucd_ucx_prepare(c.here, 1, t, info, &buffer, &count, &dt);
         if (rc == UCD_SUCCESS) (void)ucd_ucx_release(buffer, dt);
         return rc;
     }},
    {"ucd_ucx_create",
     [](Callers &c, ucd_info_t info, Param, Made) {
         ucd_ucx_t ucx = nullptr;
         const int rc = ucd_ucx_create(c.sides.a.worker, &c.params, info, &ucx);
         if (rc == UCD_SUCCESS) (void)ucd_ucx_destroy(&ucx);
         return rc;
     }},
    {"ucd_ucx_send_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_send_nbx(c.sides.a.pipeline, c.sides.a.ep, c.here, 1, t, 1, p, r);
     }},
    {"ucd_ucx_recv_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_recv_nbx(c.sides.b.pipeline, c.memory, 1, t, 1, 1, p, r);
     }},
    {"ucd_ucx_am_send_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_am_send_nbx(c.sides.b.pipeline, c.sides.b.ep, 1, nullptr, 0, c.here, 1, t,
                                    p, r);
     }},
    {"ucd_ucx_am_recv_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_am_recv_nbx(c.sides.b.pipeline, c.announced.data, c.memory, 1, t, p, r);
     }},
    {"ucd_ucx_window_create",
     [](Callers &c, ucd_info_t info, Param, Made) {
         ucd_ucx_window_t made = nullptr;
         const int rc = ucd_ucx_window_create(c.pair.b.rma, c.here, sizeof c.here, info, &made);
         if (rc == UCD_SUCCESS) (void)ucd_ucx_window_destroy(&made);
         return rc;
     }},
    {"ucd_ucx_put_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_put_nbx(c.pair.a.rma, c.pair.a.ep(), c.here, 1, t, c.key, 0, 1, t, p, r);
     }},
    {"ucd_ucx_get_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_get_nbx(c.pair.a.rma, c.pair.a.ep(), c.here, 1, t, c.key, 0, 1, t, p, r);
     }},
    {"ucd_ucx_accumulate_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_accumulate_nbx(c.pair.a.rma, c.pair.a.ep(), c.here, 1, t, c.key, 0, 1, t,
                                       UCD_OP__SUM, p, r);
     }},
    {"ucd_ucx_get_accumulate_nbx",
     [](Callers &c, ucd_info_t, Param p, Made r) {
         return ucd_ucx_get_accumulate_nbx(c.pair.a.rma, c.pair.a.ep(), c.here, 1, t, c.here + 2, 1,
                                           t, c.key, 0, 1, t, UCD_OP__SUM, p, r);
     }},
};

} // namespace

DEVICE_TEST("a key of no window is refused when all else is right") {
    Callers all;
    const ucd_ucx_window_key_t of_none = {};
    all.key = &of_none;
    Arguments a;
    for (const auto &[function, call] : std::span(callers).last(4))
        check_refused(function, "*key is no", a, [&, &start = call] {
            return start(all, UCD_INFO__NULL, nullptr, &a.o->request);
        });
}

DEVICE_TEST("a key that is misspelt is refused, and the nearest one named") {
    Callers all;
    ucd_ucx_request_t request;
    const std::pair<const char *, const char *> misspelt[] = {
        {"ucd.ucx.chnk", "ucd.ucx.chunk"},
        {"ucd.ucx.dept", "ucd.ucx.depth"},
        {"ucd.ucx.eagre", "ucd.ucx.eager"},
        {"ucd.ucx.Staging", "ucd.ucx.staging"},
        {"ucd.ucx.tiemout", "ucd.ucx.timeout"},
        {"ucd.ucx.ring_chunks", "ucd.ucx.ring_chunk"},
        {"ucd.ucx.rma.type", "ucd.ucx.rma.types"},
        {"ucd.ucx.from", "ucd.ucx.form"},
        {"ucd.ucx.iov_entires", "ucd.ucx.iov_entries"}};
    for (const auto &[key, nearest] : misspelt) {
        const Keys keys({{key, "1"}});
        const ucd_ucx_param_t p = {.struct_size = sizeof p, .info = keys.get()};
        for (const auto &[function, call] : callers) {
            INFO(function << " with " << key);
            CHECK(call(all, keys.get(), &p, &request) == UCD_ERR__INVALID_ARG);
            const std::string message = ucd_ucx_last_error();
            CHECK(message.rfind(std::string(function) + ": ", 0) == 0);
            CHECK(message.find(key) != std::string::npos);
            CHECK(message.find(nearest) != std::string::npos);
        }
    }
}

DEVICE_TEST("keys of others, and the library's own wherever they go, are taken") {
    Callers all;
    // One info for all calls: what a call has no use for is no mistake.
    const Keys keys({{"ucd.ucx.chunk", "100"},
                     {"ucd.ucx.depth", "2"},
                     {"ucd.ucx.staging", "100000"},
                     {"ucd.ucx.rma.types", "100000"},
                     {"ucd.ucx.form", "auto"},
                     {"ucd.ucx.iov_entries", "10"},
                     {"ucd.inbuf", "host"},
                     {"mpi_assert_no_locks", "true"},
                     {"ucx.chnk", "1"}});
    for (const auto &[function, call] : callers) {
        INFO(function);
        Outcome o;
        const ucd_ucx_param_t p = o.param(keys.get());
        REQUIRE(call(all, keys.get(), &p, &o.request) == UCD_SUCCESS);
        o.started();
        all.sides.until([&] {
            all.pair.progress();
            return o.done();
        });
    }
}

} // namespace attacks_arguments_test
