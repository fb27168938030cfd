// An active message of a worker belongs to one pipeline, or to one worker's one-sided operations.

#include "support/device_test.hpp"
#include "ucx/rma_pair.hpp"
#include "ucx/strided.hpp"

namespace attacks_am_id_test {

using namespace ucdtest;

namespace {

int create(ucp_worker_h worker, unsigned id, ucd_ucx_pipeline_t &pipeline) {
    ucd_ucx_pipeline_params_t params = {};
    params.struct_size = sizeof params;
    params.am_id = id;
    return ucd_ucx_pipeline_create(worker, &params, UCD_INFO__NULL, &pipeline);
}

int create(ucp_worker_h worker, unsigned id, ucd_ucx_rma_t &rma) {
    ucd_ucx_rma_params_t params = {};
    params.struct_size = sizeof params;
    params.am_id = id;
    return ucd_ucx_rma_create(worker, &params, UCD_INFO__NULL, &rma);
}

int destroy(ucd_ucx_pipeline_t &pipeline) {
    return ucd_ucx_pipeline_destroy(&pipeline);
}
int destroy(ucd_ucx_rma_t &rma) {
    return ucd_ucx_rma_destroy(&rma);
}

template <class Handle>
void check_taken(ucp_worker_h worker, const char *function) {
    Handle handle = nullptr;
    CHECK(create(worker, am_id, handle) == UCD_ERR__INVALID_ARG);
    const std::string message = ucd_ucx_last_error();
    CHECK(message.rfind(std::string(function) + ": ", 0) == 0);
    CHECK(message.find("am_id is 7") != std::string::npos);
    CHECK(handle == nullptr);
    if (handle != nullptr) CHECK(destroy(handle) == UCD_SUCCESS);
    // Another one is free, and free again when it has ended.
    for (int i = 0; i < 2; ++i) {
        REQUIRE(create(worker, am_id + 1, handle) == UCD_SUCCESS);
        CHECK(destroy(handle) == UCD_SUCCESS);
    }
}

} // namespace

DEVICE_TEST("the active message of a pipeline is taken") {
    TwoSides sides(SMALL_CHUNKS);
    check_taken<ucd_ucx_pipeline_t>(sides.a.worker, "ucd_ucx_pipeline_create");
    check_usable(sides);
    check_taken<ucd_ucx_rma_t>(sides.b.worker, "ucd_ucx_rma_create");
    check_usable(sides);
}

DEVICE_TEST("the active message of one-sided operations is taken") {
    RmaPair pair;
    int memory = 1, value = 2;
    const Window window(pair.b, &memory, sizeof memory);
    const auto check_usable = [&] {
        Outcome o;
        ++value;
        start_put(pair.a, {&value, 1, UCD_TYPE__INT}, {window.key(), 0, 1, UCD_TYPE__INT}, o);
        pair.until([&] { return o.done(); });
        CHECK(memory == value);
    };
    check_usable();
    check_taken<ucd_ucx_pipeline_t>(pair.b.side.worker, "ucd_ucx_pipeline_create");
    check_usable();
    check_taken<ucd_ucx_rma_t>(pair.a.side.worker, "ucd_ucx_rma_create");
    check_usable();
}

DEVICE_TEST("an active message is free when its pipeline has ended") {
    Side side;
    for (int i = 0; i < 3; ++i) {
        ucd_ucx_pipeline_t pipeline = nullptr, other = nullptr;
        ucd_ucx_rma_t rma = nullptr;
        REQUIRE(create(side.worker, 5, pipeline) == UCD_SUCCESS);
        CHECK(create(side.worker, 5, other) == UCD_ERR__INVALID_ARG);
        CHECK(create(side.worker, 5, rma) == UCD_ERR__INVALID_ARG);
        CHECK(destroy(pipeline) == UCD_SUCCESS);
        REQUIRE(create(side.worker, 5, rma) == UCD_SUCCESS);
        CHECK(create(side.worker, 5, pipeline) == UCD_ERR__INVALID_ARG);
        CHECK(destroy(rma) == UCD_SUCCESS);
    }
    // Another worker's is its own; and so is that of a worker made later, wherever it lies.
    for (int i = 0; i < 3; ++i) {
        PipelineSide other;
        ucd_ucx_pipeline_t pipeline = nullptr;
        CHECK(create(side.worker, am_id, pipeline) == UCD_SUCCESS);
        CHECK(destroy(pipeline) == UCD_SUCCESS);
    }
}

namespace {

template <class Handle>
void check_too_large(ucp_worker_h worker, const std::string &function) {
    for (const unsigned id : {1U << 16, (1U << 16) + am_id, UINT_MAX}) {
        Handle handle = nullptr;
        CHECK(create(worker, id, handle) == UCD_ERR__INVALID_ARG);
        CHECK(std::string(ucd_ucx_last_error()) ==
              function + ": params->am_id is " + std::to_string(id) + "; it must be at most 65535");
        CHECK(handle == nullptr);
        if (handle != nullptr) CHECK(destroy(handle) == UCD_SUCCESS);
    }
}

} // namespace

DEVICE_TEST("an active message that has no room in UCX's messages is refused") {
    TwoSides pair(SMALL_CHUNKS);
    check_too_large<ucd_ucx_pipeline_t>(pair.a.worker, "ucd_ucx_pipeline_create");
    check_too_large<ucd_ucx_rma_t>(pair.a.worker, "ucd_ucx_rma_create");
    // The last one that there is.
    ucd_ucx_pipeline_t from = nullptr, to = nullptr;
    REQUIRE(create(pair.a.worker, UINT16_MAX, from) == UCD_SUCCESS);
    REQUIRE(create(pair.b.worker, UINT16_MAX, to) == UCD_SUCCESS);
    const std::string in(1 << 20, 'i');
    std::string out(in.size(), 'o');
    Outcome sent, received;
    const ucd_ucx_param_t ps = sent.param(), pr = received.param();
    ok(ucd_ucx_recv_nbx(to, out.data(), out.size(), UCD_TYPE__BYTE, 1, UINT64_MAX, &pr,
                        &received.request),
       "ucd_ucx_recv_nbx");
    ok(ucd_ucx_send_nbx(from, pair.a.ep, in.data(), in.size(), UCD_TYPE__BYTE, 1, &ps,
                        &sent.request),
       "ucd_ucx_send_nbx");
    sent.started();
    pair.until([&] {
        (void)ucd_ucx_progress(from);
        (void)ucd_ucx_progress(to);
        return sent.done() && received.done();
    });
    CHECK(out == in);
    CHECK(destroy(from) == UCD_SUCCESS);
    CHECK(destroy(to) == UCD_SUCCESS);
}

} // namespace attacks_am_id_test
