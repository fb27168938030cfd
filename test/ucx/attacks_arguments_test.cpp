// NULL for each argument of each function that may not be NULL, and handles that have ended.

#include "support/moves/device_moves.hpp"
#include "ucx/rma_pair.hpp"
#include "ucx/strided.hpp"

#include <cstring>

namespace attacks_arguments_test {

using namespace ucdtest;

namespace {

// What the refused calls would write to.
struct Outputs {
    ucd_ucx_request_t request;
    ucd_ucx_pipeline_t pipeline;
    ucd_ucx_rma_t rma;
    ucd_ucx_window_t window;
    ucp_datatype_t datatype;
    void *buffer;
    std::size_t count;
    ucd_ucx_window_key_t key;
};

// Good arguments, one of which a row of the table below spoils.
struct Arguments {
    Outputs out, *o = &out;
    Side *side = nullptr;
    ucp_worker_h worker = nullptr;
    ucp_ep_h ep = nullptr;
    ucd_ucx_pipeline_t pipeline = nullptr;
    ucd_ucx_pipeline_params_t pipeline_params = {};
    const ucd_ucx_pipeline_params_t *params = &pipeline_params;
    ucd_ucx_rma_t rma = nullptr;
    ucd_ucx_rma_params_t rma_params_ = {};
    const ucd_ucx_rma_params_t *rma_params = &rma_params_;
    ucd_ucx_data_t data = nullptr;
    ucd_type_t type = UCD_TYPE__INT;
    ucd_ucx_window_t window = nullptr;
    const ucd_ucx_window_key_t *key = nullptr;
    ucd_ucx_param_t *param = nullptr;
    ucd_ucx_request_t *request = &out.request;
    char buffer[64] = {};
};

struct Refused {
    const char *function, *words;
    int (*call)(Arguments &);
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

#define A Arguments &a
const char pipeline_null[] = "pipeline is NULL", ep_null[] = "ep is NULL",
           request_null[] = "request is NULL", rma_null[] = "rma is NULL",
           key_null[] = "key is NULL", window_null[] = "window is NULL",
           data_null[] = "data is NULL", type_null[] = "type is UCD_TYPE__NULL",
           status_bad[] = "status is Success; it must be an error",
           unknown_members[] = "params has members that this version";
const ucs_status_t lost = UCS_ERR_CANCELED;

int send(ucd_ucx_pipeline_t p, ucp_ep_h ep, ucd_type_t t, ucd_ucx_request_t *r, A) {
    return ucd_ucx_send_nbx(p, ep, a.buffer, 1, t, 1, a.param, r);
}
int recv(ucd_ucx_pipeline_t p, ucd_type_t t, ucd_ucx_request_t *r, A) {
    return ucd_ucx_recv_nbx(p, a.buffer, 1, t, 1, 1, a.param, r);
}
int am_send(ucd_ucx_pipeline_t p, ucp_ep_h ep, const void *h, ucd_type_t t, ucd_ucx_request_t *r,
            A) {
    return ucd_ucx_am_send_nbx(p, ep, 1, h, 1, a.buffer, 1, t, a.param, r);
}
int am_recv(ucd_ucx_pipeline_t p, ucd_ucx_data_t d, ucd_type_t t, ucd_ucx_request_t *r, A) {
    return ucd_ucx_am_recv_nbx(p, d, a.buffer, 1, t, a.param, r);
}

const Refused of_pipelines[] = {
    {"ucd_ucx_datatype", type_null,
     [](A) { return ucd_ucx_datatype(nullptr, nullptr, &a.o->datatype); }},
    {"ucd_ucx_datatype", "ucp_dt is NULL",
     [](A) { return ucd_ucx_datatype(a.type, nullptr, nullptr); }},
    {"ucd_ucx_prepare", type_null,
     [](A) {
         return ucd_ucx_prepare(a.buffer, 1, nullptr, nullptr, &a.o->buffer, &a.o->count,
                                &a.o->datatype);
     }},
    {"ucd_ucx_prepare", "ucp_buf is NULL",
     [](A) {
         return ucd_ucx_prepare(a.buffer, 1, a.type, nullptr, nullptr, &a.o->count, &a.o->datatype);
     }},
    {"ucd_ucx_prepare", "ucp_count is NULL",
     [](A) {
         return ucd_ucx_prepare(a.buffer, 1, a.type, nullptr, &a.o->buffer, nullptr,
                                &a.o->datatype);
     }},
    {"ucd_ucx_prepare", "ucp_dt is NULL",
     [](A) {
         return ucd_ucx_prepare(a.buffer, 1, a.type, nullptr, &a.o->buffer, &a.o->count, nullptr);
     }},
    {"ucd_ucx_pipeline_create", "worker is NULL",
     [](A) { return ucd_ucx_pipeline_create(nullptr, a.params, nullptr, &a.o->pipeline); }},
    {"ucd_ucx_pipeline_create", "params is NULL",
     [](A) { return ucd_ucx_pipeline_create(a.worker, nullptr, nullptr, &a.o->pipeline); }},
    {"ucd_ucx_pipeline_create", "params->struct_size is 3",
     [](A) {
         ucd_ucx_pipeline_params_t params = a.pipeline_params;
         params.struct_size = 3;
         return ucd_ucx_pipeline_create(a.worker, &params, nullptr, &a.o->pipeline);
     }},
    {"ucd_ucx_pipeline_create", unknown_members,
     [](A) {
         const Newer params(a.pipeline_params, 1);
         return ucd_ucx_pipeline_create(a.worker, &params.known, nullptr, &a.o->pipeline);
     }},
    {"ucd_ucx_pipeline_create", pipeline_null,
     [](A) { return ucd_ucx_pipeline_create(a.worker, a.params, nullptr, nullptr); }},
    {"ucd_ucx_pipeline_destroy", pipeline_null,
     [](Arguments &) { return ucd_ucx_pipeline_destroy(nullptr); }},
    {"ucd_ucx_send_nbx", pipeline_null,
     [](A) { return send(nullptr, a.ep, a.type, a.request, a); }},
    {"ucd_ucx_send_nbx", ep_null,
     [](A) { return send(a.pipeline, nullptr, a.type, a.request, a); }},
    {"ucd_ucx_send_nbx", type_null,
     [](A) { return send(a.pipeline, a.ep, nullptr, a.request, a); }},
    {"ucd_ucx_send_nbx", request_null,
     [](A) { return send(a.pipeline, a.ep, a.type, nullptr, a); }},
    {"ucd_ucx_recv_nbx", pipeline_null, [](A) { return recv(nullptr, a.type, a.request, a); }},
    {"ucd_ucx_recv_nbx", type_null, [](A) { return recv(a.pipeline, nullptr, a.request, a); }},
    {"ucd_ucx_recv_nbx", request_null, [](A) { return recv(a.pipeline, a.type, nullptr, a); }},
    {"ucd_ucx_am_send_nbx", pipeline_null,
     [](A) { return am_send(nullptr, a.ep, "h", a.type, a.request, a); }},
    {"ucd_ucx_am_send_nbx", ep_null,
     [](A) { return am_send(a.pipeline, nullptr, "h", a.type, a.request, a); }},
    {"ucd_ucx_am_send_nbx", "header is NULL",
     [](A) { return am_send(a.pipeline, a.ep, nullptr, a.type, a.request, a); }},
    {"ucd_ucx_am_send_nbx", type_null,
     [](A) { return am_send(a.pipeline, a.ep, "h", nullptr, a.request, a); }},
    {"ucd_ucx_am_send_nbx", request_null,
     [](A) { return am_send(a.pipeline, a.ep, "h", a.type, nullptr, a); }},
    {"ucd_ucx_am_set_handler", pipeline_null,
     [](A) { return ucd_ucx_am_set_handler(nullptr, nullptr, &a); }},
    {"ucd_ucx_am_recv_nbx", pipeline_null,
     [](A) { return am_recv(nullptr, a.data, a.type, a.request, a); }},
    {"ucd_ucx_am_recv_nbx", data_null,
     [](A) { return am_recv(a.pipeline, nullptr, a.type, a.request, a); }},
    {"ucd_ucx_am_recv_nbx", type_null,
     [](A) { return am_recv(a.pipeline, a.data, nullptr, a.request, a); }},
    {"ucd_ucx_am_recv_nbx", request_null,
     [](A) { return am_recv(a.pipeline, a.data, a.type, nullptr, a); }},
    {"ucd_ucx_am_drop", pipeline_null, [](A) { return ucd_ucx_am_drop(nullptr, a.data); }},
    {"ucd_ucx_am_drop", data_null, [](A) { return ucd_ucx_am_drop(a.pipeline, nullptr); }},
    {"ucd_ucx_cancel", pipeline_null, [](Arguments &) { return ucd_ucx_cancel(nullptr, nullptr); }},
    {"ucd_ucx_cancel", request_null, [](A) { return ucd_ucx_cancel(a.pipeline, nullptr); }},
    {"ucd_ucx_lose_endpoint", pipeline_null,
     [](A) { return ucd_ucx_lose_endpoint(nullptr, a.ep, lost); }},
    {"ucd_ucx_lose_endpoint", ep_null,
     [](A) { return ucd_ucx_lose_endpoint(a.pipeline, nullptr, lost); }},
    {"ucd_ucx_lose_endpoint", status_bad,
     [](A) { return ucd_ucx_lose_endpoint(a.pipeline, a.ep, UCS_OK); }},
    {"ucd_ucx_lose_endpoint", "status is Operation in progress; it must be an error",
     [](A) { return ucd_ucx_lose_endpoint(a.pipeline, a.ep, UCS_INPROGRESS); }},
};

// Each of the four calls that start an operation, with an argument spoilt before it.
using Start = int (*)(A, ucd_ucx_rma_t, ucp_ep_h, const ucd_ucx_window_key_t *, ucd_type_t,
                      ucd_type_t, ucd_ucx_request_t *);
const struct {
    const char *function;
    Start call;
} starts[] = {
    {"ucd_ucx_put_nbx",
     [](A, ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_window_key_t *key, ucd_type_t here,
        ucd_type_t there, ucd_ucx_request_t *request) {
         return ucd_ucx_put_nbx(rma, ep, a.buffer, 1, here, key, 0, 1, there, a.param, request);
     }},
    {"ucd_ucx_get_nbx",
     [](A, ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_window_key_t *key, ucd_type_t here,
        ucd_type_t there, ucd_ucx_request_t *request) {
         return ucd_ucx_get_nbx(rma, ep, a.buffer, 1, here, key, 0, 1, there, a.param, request);
     }},
    {"ucd_ucx_accumulate_nbx",
     [](A, ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_window_key_t *key, ucd_type_t here,
        ucd_type_t there, ucd_ucx_request_t *request) {
         return ucd_ucx_accumulate_nbx(rma, ep, a.buffer, 1, here, key, 0, 1, there, UCD_OP__SUM,
                                       a.param, request);
     }},
    {"ucd_ucx_get_accumulate_nbx",
     [](A, ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_window_key_t *key, ucd_type_t here,
        ucd_type_t there, ucd_ucx_request_t *request) {
         return ucd_ucx_get_accumulate_nbx(rma, ep, a.buffer, 1, UCD_TYPE__INT, a.buffer + 32, 1,
                                           here, key, 0, 1, there, UCD_OP__SUM, a.param, request);
     }},
    {"ucd_ucx_get_accumulate_nbx",
     [](A, ucd_ucx_rma_t rma, ucp_ep_h ep, const ucd_ucx_window_key_t *key, ucd_type_t here,
        ucd_type_t there, ucd_ucx_request_t *request) {
         return ucd_ucx_get_accumulate_nbx(rma, ep, a.buffer, 1, here, a.buffer + 32, 1,
                                           UCD_TYPE__INT, key, 0, 1, there, UCD_OP__SUM, a.param,
                                           request);
     }},
};

const Refused of_rma[] = {
    {"ucd_ucx_rma_create", "worker is NULL",
     [](A) { return ucd_ucx_rma_create(nullptr, a.rma_params, nullptr, &a.o->rma); }},
    {"ucd_ucx_rma_create", "params is NULL",
     [](A) { return ucd_ucx_rma_create(a.worker, nullptr, nullptr, &a.o->rma); }},
    {"ucd_ucx_rma_create", "params->struct_size is 3",
     [](A) {
         ucd_ucx_rma_params_t params = a.rma_params_;
         params.struct_size = 3;
         return ucd_ucx_rma_create(a.worker, &params, nullptr, &a.o->rma);
     }},
    {"ucd_ucx_rma_create", unknown_members,
     [](A) {
         const Newer params(a.rma_params_, std::uint64_t{1} << 63);
         return ucd_ucx_rma_create(a.worker, &params.known, nullptr, &a.o->rma);
     }},
    {"ucd_ucx_rma_create", rma_null,
     [](A) { return ucd_ucx_rma_create(a.worker, a.rma_params, nullptr, nullptr); }},
    {"ucd_ucx_rma_destroy", rma_null, [](Arguments &) { return ucd_ucx_rma_destroy(nullptr); }},
    {"ucd_ucx_rma_lose_endpoint", rma_null,
     [](A) { return ucd_ucx_rma_lose_endpoint(nullptr, a.ep, lost); }},
    {"ucd_ucx_rma_lose_endpoint", ep_null,
     [](A) { return ucd_ucx_rma_lose_endpoint(a.rma, nullptr, lost); }},
    {"ucd_ucx_rma_lose_endpoint", status_bad,
     [](A) { return ucd_ucx_rma_lose_endpoint(a.rma, a.ep, UCS_OK); }},
    {"ucd_ucx_window_create", rma_null,
     [](A) { return ucd_ucx_window_create(nullptr, a.buffer, 8, nullptr, &a.o->window); }},
    {"ucd_ucx_window_create", "base is NULL",
     [](A) { return ucd_ucx_window_create(a.rma, nullptr, 8, nullptr, &a.o->window); }},
    {"ucd_ucx_window_create", "base is NULL",
     [](A) { return ucd_ucx_window_create(a.rma, nullptr, 1, nullptr, &a.o->window); }},
    {"ucd_ucx_window_create", window_null,
     [](A) { return ucd_ucx_window_create(a.rma, a.buffer, 8, nullptr, nullptr); }},
    {"ucd_ucx_window_key", window_null, [](A) { return ucd_ucx_window_key(nullptr, &a.o->key); }},
    {"ucd_ucx_window_key", key_null, [](A) { return ucd_ucx_window_key(a.window, nullptr); }},
    {"ucd_ucx_window_destroy", window_null,
     [](Arguments &) { return ucd_ucx_window_destroy(nullptr); }},
    {"ucd_ucx_rma_flush_nbx", rma_null,
     [](A) { return ucd_ucx_rma_flush_nbx(nullptr, a.ep, a.param, a.request); }},
    {"ucd_ucx_rma_flush_nbx", request_null,
     [](A) { return ucd_ucx_rma_flush_nbx(a.rma, a.ep, a.param, nullptr); }},
    {"ucd_ucx_rma_fence", rma_null, [](A) { return ucd_ucx_rma_fence(nullptr, a.ep); }},
};
#undef A

template <class Call>
void check_refused(const char *function, const char *words, Arguments &a, Call call) {
    std::memset(static_cast<void *>(&a.out), 0xa5, sizeof a.out);
    const Outputs before = a.out;
    const int rc = call(a);
    const std::string message = ucd_ucx_last_error();
    INFO(function << ": \"" << message << "\" for " << words);
    CHECK(rc == UCD_ERR__INVALID_ARG);
    // The function and the argument that the caller named, and none within.
    CHECK(message.rfind(std::string(function) + ": " + words, 0) == 0);
    const bool unchanged = std::memcmp(&a.out, &before, sizeof before) == 0;
    CHECK(unchanged);
}

} // namespace

TEST_CASE("functions of pipelines refuse NULL") {
    const DeviceSession session;
    TwoSides sides(SMALL_CHUNKS);
    Arguments a;
    a.worker = sides.a.worker;
    a.ep = sides.a.ep;
    a.pipeline = sides.a.pipeline;
    a.pipeline_params.struct_size = sizeof a.pipeline_params;
    a.pipeline_params.am_id = am_id + 1;
    // Data that a call may be given.
    ok(ucd_ucx_am_set_handler(
           sides.a.pipeline,
           [](void *arg, unsigned, const void *, size_t, ucd_ucx_data_t data, uint64_t, ucp_ep_h) {
               static_cast<Arguments *>(arg)->data = data;
           },
           &a),
       "ucd_ucx_am_set_handler");
    Request sent;
    ok(ucd_ucx_am_send_nbx(sides.b.pipeline, sides.b.ep, 1, "h", 1, "data", 4, UCD_TYPE__CHAR,
                           nullptr, &sent.handle),
       "ucd_ucx_am_send_nbx");
    sides.until([&] { return a.data != nullptr && sent.done(); });
    for (const Refused &r : of_pipelines) check_refused(r.function, r.words, a, r.call);
    ok(ucd_ucx_am_drop(sides.a.pipeline, a.data), "ucd_ucx_am_drop");
    const Newer params(a.pipeline_params, 0);
    ucd_ucx_pipeline_t other = UCD_UCX_PIPELINE__NULL;
    ok(ucd_ucx_pipeline_create(a.worker, &params.known, UCD_INFO__NULL, &other), "newer params");
    ok(ucd_ucx_pipeline_destroy(&other), "ucd_ucx_pipeline_destroy");
    check_usable(sides);
}

TEST_CASE("functions of one-sided operations refuse NULL") {
    const DeviceSession session;
    RmaPair pair;
    std::vector<char> memory(100);
    const Window window(pair.b, memory.data(), memory.size());
    Arguments a;
    a.worker = pair.a.side.worker;
    a.ep = pair.a.ep();
    a.rma = pair.a.rma;
    a.key = window.key();
    a.window = window.handle;
    a.rma_params_.struct_size = sizeof a.rma_params_;
    a.rma_params_.am_id = am_id + 1;
    for (const Refused &r : of_rma) check_refused(r.function, r.words, a, r.call);
    const ucd_type_t t = UCD_TYPE__INT;
    int seen = 0; // of the two entries for get_accumulate, the first one spoils the result's type
    for (const auto &[function, call] : starts) {
        const auto refused = [&](const char *words, auto with) {
            check_refused(function, words, a, with);
        };
        const Start start = call;
        refused(rma_null, [&](auto &x) { return start(x, nullptr, x.ep, x.key, t, t, x.request); });
        refused(ep_null, [&](auto &x) { return start(x, x.rma, nullptr, x.key, t, t, x.request); });
        refused(key_null, [&](auto &x) { return start(x, x.rma, x.ep, nullptr, t, t, x.request); });
        const bool of_result = std::strcmp(function, "ucd_ucx_get_accumulate_nbx") == 0 && !seen++;
        refused(of_result ? "result_type is UCD_TYPE__NULL" : "origin_type is UCD_TYPE__NULL",
                [&](auto &x) { return start(x, x.rma, x.ep, x.key, nullptr, t, x.request); });
        refused("target_type is UCD_TYPE__NULL",
                [&](auto &x) { return start(x, x.rma, x.ep, x.key, t, nullptr, x.request); });
        refused(request_null, [&](auto &x) { return start(x, x.rma, x.ep, x.key, t, t, nullptr); });
        const ucd_ucx_window_key_t no_key = {};
        refused("*key is no",
                [&](auto &x) { return start(x, x.rma, x.ep, &no_key, t, t, x.request); });
    }
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
    ucd_ucx_pipeline_t pipeline = UCD_UCX_PIPELINE__NULL;
    ucd_ucx_rma_t rma = UCD_UCX_RMA__NULL;
    ucd_ucx_window_t window = UCD_UCX_WINDOW__NULL;
    CHECK(ucd_ucx_pipeline_destroy(&pipeline) == UCD_SUCCESS);
    CHECK(ucd_ucx_rma_destroy(&rma) == UCD_SUCCESS);
    CHECK(ucd_ucx_window_destroy(&window) == UCD_SUCCESS);
}

TEST_CASE("progress of nothing moves nothing") {
    CHECK(ucd_ucx_progress(UCD_UCX_PIPELINE__NULL) == 0);
    CHECK(ucd_ucx_rma_progress(UCD_UCX_RMA__NULL) == 0);
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

} // namespace attacks_arguments_test
