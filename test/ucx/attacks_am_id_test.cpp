// An active message of a worker belongs to one pipeline, or to one worker's one-sided operations.

#include "support/moves/device_moves.hpp"
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

TEST_CASE("the active message of a pipeline is taken") {
    const DeviceSession session;
    TwoSides sides(SMALL_CHUNKS);
    check_taken<ucd_ucx_pipeline_t>(sides.a.worker, "ucd_ucx_pipeline_create");
    check_usable(sides);
    check_taken<ucd_ucx_rma_t>(sides.b.worker, "ucd_ucx_rma_create");
    check_usable(sides);
}

TEST_CASE("the active message of one-sided operations is taken") {
    const DeviceSession session;
    RmaPair pair;
    int memory = 1, value = 2;
    const Window window(pair.b, &memory, sizeof memory);
    const auto check_usable = [&] {
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        ++value;
        REQUIRE(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), &value, 1, UCD_TYPE__INT, window.key(), 0,
                                1, UCD_TYPE__INT, &p, &o.request) == UCD_SUCCESS);
        pair.until([&] { return o.done(); });
        CHECK(memory == value);
    };
    check_usable();
    check_taken<ucd_ucx_pipeline_t>(pair.b.side.worker, "ucd_ucx_pipeline_create");
    check_usable();
    check_taken<ucd_ucx_rma_t>(pair.a.side.worker, "ucd_ucx_rma_create");
    check_usable();
}

TEST_CASE("an active message is free when its pipeline has ended") {
    const DeviceSession session;
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
        Side other;
        other.open_pipeline(UCD_INFO__NULL);
        ucd_ucx_pipeline_t pipeline = nullptr;
        CHECK(create(side.worker, am_id, pipeline) == UCD_SUCCESS);
        CHECK(destroy(pipeline) == UCD_SUCCESS);
    }
}

} // namespace attacks_am_id_test
