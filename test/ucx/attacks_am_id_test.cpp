// What honest users get wrong about objects: an active message id of a worker belongs to one
// object, and a family has to be asked for. They are told what, by the function that they called.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"
#include "ucx/strided.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace attacks_am_id_test {

using namespace ucdtest;

namespace {

constexpr std::uint16_t families[] = {UCD_UCX_TRANSFERS, UCD_UCX_ONE_SIDED,
                                      UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED};

int create(ucp_worker_h worker, std::uint16_t id, std::uint16_t family, ucd_ucx_t &ucx) {
    ucd_ucx_params_t params = {};
    params.struct_size = sizeof params;
    params.am_id = id;
    params.families = family;
    return ucd_ucx_create(worker, &params, UCD_INFO__NULL, &ucx);
}

void check_refused(const std::string &words, ucp_worker_h worker, std::uint16_t id,
                   std::uint16_t family) {
    ucd_ucx_t ucx = UCD_UCX__NULL;
    CHECK(create(worker, id, family, ucx) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_ucx_last_error()).rfind("ucd_ucx_create: " + words, 0) == 0);
    CHECK(ucx == UCD_UCX__NULL);
    if (ucx != UCD_UCX__NULL) CHECK(ucd_ucx_destroy(&ucx) == UCD_SUCCESS);
}

void check_taken(ucp_worker_h worker) {
    for (const std::uint16_t family : families) {
        check_refused("params->am_id is 7, which another object", worker, am_id, family);
        // Another one is free, and free again when its object has ended.
        for (int i = 0; i < 2; ++i) {
            ucd_ucx_t ucx = UCD_UCX__NULL;
            REQUIRE(create(worker, am_id + 1, family, ucx) == UCD_SUCCESS);
            CHECK(ucd_ucx_destroy(&ucx) == UCD_SUCCESS);
        }
    }
}

} // namespace

DEVICE_TEST("the active message of an object with transfers is taken") {
    TwoSides sides(SMALL_CHUNKS);
    check_taken(sides.a.worker);
    check_usable(sides);
    check_taken(sides.b.worker);
    check_usable(sides);
}

DEVICE_TEST("the active message of one-sided operations is taken") {
    RmaPair pair;
    int memory = 1, value = 2;
    const Window window(pair.b, &memory, sizeof memory);
    for (RmaSide *side : {&pair.b, &pair.a}) {
        check_taken(side->side.worker);
        Outcome o;
        ++value;
        start_put(pair.a, {&value, 1, UCD_TYPE__INT}, {window.key(), 0, 1, UCD_TYPE__INT}, o);
        pair.until([&] { return o.done(); });
        CHECK(memory == value);
    }
}

DEVICE_TEST("an active message is free when its object has ended") {
    Side side;
    for (const std::uint16_t family : families) {
        ucd_ucx_t ucx = UCD_UCX__NULL;
        REQUIRE(create(side.worker, 5, family, ucx) == UCD_SUCCESS);
        for (const std::uint16_t other : families)
            check_refused("params->am_id is 5, which another object", side.worker, 5, other);
        CHECK(ucd_ucx_destroy(&ucx) == UCD_SUCCESS);
    }
    // Another worker's is its own; and so is that of a worker made later, wherever it lies.
    for (int i = 0; i < 3; ++i) {
        PipelineSide other;
        ucd_ucx_t ucx = UCD_UCX__NULL;
        CHECK(create(side.worker, am_id, UCD_UCX_TRANSFERS, ucx) == UCD_SUCCESS);
        CHECK(ucd_ucx_destroy(&ucx) == UCD_SUCCESS);
    }
}

DEVICE_TEST("families that are none are refused") {
    Side side;
    for (const unsigned none : {0U, 4U, 7U, 0xffffU})
        check_refused("params->families is " + std::to_string(none) + "; it must be", side.worker,
                      am_id, static_cast<std::uint16_t>(none));
}

DEVICE_TEST("functions of a family that was not asked for say so") {
    Side side;
    side.connect(side.address());
    ucd_ucx_t transfers = UCD_UCX__NULL, one_sided = UCD_UCX__NULL;
    REQUIRE(create(side.worker, 1, UCD_UCX_TRANSFERS, transfers) == UCD_SUCCESS);
    REQUIRE(create(side.worker, 2, UCD_UCX_ONE_SIDED, one_sided) == UCD_SUCCESS);
    const auto check = [](const std::string &function, const char *family, int rc) {
        CHECK(rc == UCD_ERR__INVALID_ARG);
        CHECK(std::string(ucd_ucx_last_error()) ==
              function + ": ucx was created without " + family);
    };
    char byte = 0;
    void *base;
    ucd_ucx_request_t request;
    ucd_ucx_window_t window;
    const ucd_ucx_window_key_t key = {};
    check("ucd_ucx_send_nbx", "UCD_UCX_TRANSFERS",
          ucd_ucx_send_nbx(one_sided, side.ep, &byte, 1, UCD_TYPE__BYTE, 1, nullptr, &request));
    check("ucd_ucx_recv_nbx", "UCD_UCX_TRANSFERS",
          ucd_ucx_recv_nbx(one_sided, &byte, 1, UCD_TYPE__BYTE, 1, 1, nullptr, &request));
    check("ucd_ucx_am_send_nbx", "UCD_UCX_TRANSFERS",
          ucd_ucx_am_send_nbx(one_sided, side.ep, 1, nullptr, 0, &byte, 1, UCD_TYPE__BYTE, nullptr,
                              &request));
    check("ucd_ucx_am_set_handler", "UCD_UCX_TRANSFERS",
          ucd_ucx_am_set_handler(one_sided, nullptr, nullptr));
    check("ucd_ucx_window_create", "UCD_UCX_ONE_SIDED",
          ucd_ucx_window_create(transfers, &byte, 1, UCD_INFO__NULL, &window));
    check("ucd_ucx_window_allocate", "UCD_UCX_ONE_SIDED",
          ucd_ucx_window_allocate(transfers, 1, UCD_INFO__NULL, &base, &window));
    check("ucd_ucx_put_nbx", "UCD_UCX_ONE_SIDED",
          ucd_ucx_put_nbx(transfers, side.ep, &byte, 1, UCD_TYPE__BYTE, &key, 0, 1, UCD_TYPE__BYTE,
                          nullptr, &request));
    check("ucd_ucx_flush_nbx", "UCD_UCX_ONE_SIDED",
          ucd_ucx_flush_nbx(transfers, side.ep, nullptr, &request));
    check("ucd_ucx_fence", "UCD_UCX_ONE_SIDED", ucd_ucx_fence(transfers, side.ep));
    for (ucd_ucx_t *ucx : {&transfers, &one_sided}) CHECK(ucd_ucx_destroy(ucx) == UCD_SUCCESS);
    CHECK(ucd_ucx_destroy(&transfers) == UCD_SUCCESS); // NULL already
}

DEVICE_TEST("the id of the library's own active messages is refused") {
    TwoSides sides(SMALL_CHUNKS);
    ucd_ucx_request_t request;
    CHECK(ucd_ucx_am_send_nbx(sides.a.pipeline, sides.a.ep, 0, nullptr, 0, "x", 1, UCD_TYPE__CHAR,
                              nullptr, &request) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_ucx_last_error()) ==
          "ucd_ucx_am_send_nbx: id is 0; it must be at least 1");
    check_usable(sides);
}

// Long one-sided messages are active messages of the same object as the program's.
DEVICE_TEST("transfers, active messages and one-sided operations share an object") {
    RmaPair pair(small_chunks);
    constexpr std::size_t ints = 5000;
    std::vector<int> memory(2 * ints, -1), in(ints), tagged(ints, -1), active(ints, -1);
    for (std::size_t i = 0; i < ints; ++i) in[i] = static_cast<int>(i);
    const Window window(pair.b, memory.data(), memory.size() * sizeof(int));
    struct Receiver {
        RmaSide &side;
        std::vector<int> &to;
        unsigned id = 0;
        Outcome o;
    } receiver{pair.b, active, 0, {}};
    ok(ucd_ucx_am_set_handler(
           pair.b.rma,
           [](void *argument, unsigned id, const void *, std::size_t, ucd_ucx_data_t data,
              std::uint64_t, ucp_ep_h) {
               auto &r = *static_cast<Receiver *>(argument);
               r.id = id;
               const ucd_ucx_param_t p = r.o.param();
               ok(ucd_ucx_am_recv_nbx(r.side.rma, data, r.to.data(), r.to.size(), UCD_TYPE__INT, &p,
                                      &r.o.request),
                  "ucd_ucx_am_recv_nbx");
           },
           &receiver),
       "ucd_ucx_am_set_handler");
    for (int round = 0; round < 3; ++round) {
        Outcome put, sent, received, active_sent;
        start_put(pair.a, {in.data(), ints, UCD_TYPE__INT}, {window.key(), 0, ints, UCD_TYPE__INT},
                  put);
        const ucd_ucx_param_t ps = sent.param(), pr = received.param(), pa = active_sent.param();
        ok(ucd_ucx_send_nbx(pair.a.rma, pair.a.ep(), in.data(), ints, UCD_TYPE__INT, 5, &ps,
                            &sent.request),
           "ucd_ucx_send_nbx");
        ok(ucd_ucx_am_send_nbx(pair.a.rma, pair.a.ep(), 9, "header", 6, in.data(), ints,
                               UCD_TYPE__INT, &pa, &active_sent.request),
           "ucd_ucx_am_send_nbx");
        ok(ucd_ucx_recv_nbx(pair.b.rma, tagged.data(), ints, UCD_TYPE__INT, 5, UINT64_MAX, &pr,
                            &received.request),
           "ucd_ucx_recv_nbx");
        sent.started();
        active_sent.started();
        pair.until([&] {
            return put.done() && sent.done() && received.done() && active_sent.done() &&
                   receiver.o.done();
        });
        CHECK(receiver.id == 9);
        for (const Outcome *o : {&put, &sent, &received, &active_sent, &receiver.o})
            CHECK(o->result.status == UCS_OK);
        CHECK(std::equal(in.begin(), in.end(), memory.begin()));
        CHECK(std::count(memory.begin() + ints, memory.end(), -1) == ints);
        CHECK(tagged == in);
        CHECK(active == in);
        std::fill(memory.begin(), memory.end(), -1);
        std::fill(tagged.begin(), tagged.end(), -1);
        std::fill(active.begin(), active.end(), -1);
        ucd_ucx_request_free(std::exchange(receiver.o.request, UCD_UCX_REQUEST__NULL));
        receiver.o.calls = 0;
    }
}

// The object keeps libucd initialised.
TEST_CASE("an object may be destroyed after ucd_finalize") {
    Side side;
    ucd_ucx_t ucx = UCD_UCX__NULL;
    REQUIRE(create(side.worker, am_id, UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED, ucx) == UCD_SUCCESS);
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    (void)ucd_ucx_progress(ucx);
    CHECK(ucd_ucx_destroy(&ucx) == UCD_SUCCESS);
    CHECK(ucx == UCD_UCX__NULL);
    uintptr_t bytes;
    CHECK(ucd_get_size(UCD_TYPE__INT, &bytes) == UCD_ERR__NOT_INITIALIZED);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

// Reasons -----------------------------------------------------------------

namespace {

std::string old_message() {
    (void)ucd_ucx_cancel(nullptr, nullptr);
    return ucd_ucx_last_error();
}

} // namespace

DEVICE_TEST("what a target found wrong is told at the origin") {
    RmaPair pair;
    int memory[4] = {}, here[4] = {};
    const Window window(pair.b, memory, sizeof memory);
    ucd_ucx_window_key_t gone;
    {
        const Window other(pair.b, here, sizeof here);
        gone = *other.key();
    }
    ucd_type_t twice = made(ucd_create_hvector, 2, 1, 0, UCD_TYPE__INT);
    const struct {
        const ucd_ucx_window_key_t *key;
        std::intptr_t displacement;
        ucd_type_t type;
        std::uintptr_t count;
        ucs_status_t status;
    } wrongs[] = {{&gone, 0, UCD_TYPE__INT, 2, UCS_ERR_NO_ELEM},
                  {window.key(), 12, UCD_TYPE__INT, 2, UCS_ERR_OUT_OF_RANGE},
                  {window.key(), 0, twice, 1, UCS_ERR_INVALID_PARAM}};
    struct Told {
        std::string message;
        int calls = 0;
    };
    for (const auto &wrong : wrongs) {
        INFO(ucs_status_string(wrong.status));
        Told told;
        ucd_ucx_param_t p = {};
        p.struct_size = sizeof p;
        p.callback = [](ucd_ucx_request_t, const ucd_ucx_result_t *, void *arg) {
            auto &t = *static_cast<Told *>(arg);
            t.message = ucd_ucx_last_error();
            ++t.calls;
        };
        p.user_data = &told;
        Request request;
        const std::string before = old_message();
        ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), here, 2, UCD_TYPE__INT, wrong.key,
                           wrong.displacement, wrong.count, wrong.type, &p, &request.handle),
           "put");
        pair.until([&] { return told.calls > 0; });
        CHECK(told.message != before);
        CHECK(!told.message.empty());
        // Asked later, too, and whatever was said meanwhile.
        (void)old_message();
        CHECK(ucd_ucx_request_check(request.handle, nullptr) == wrong.status);
        CHECK(std::string(ucd_ucx_last_error()) == told.message);
    }
    ok(ucd_free(&twice), "free");
}

TEST_CASE("what is called before ucd_init says so of itself") {
    Side side;
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    ucd_ucx_params_t params = {};
    params.struct_size = sizeof params;
    params.am_id = am_id;
    params.families = UCD_UCX_TRANSFERS;
    ucd_ucx_t ucx = nullptr;
    void *buffer;
    std::size_t count;
    ucp_datatype_t dt;
    const auto check = [&](const std::string &function, int rc) {
        const std::string message = ucd_ucx_last_error();
        INFO(message);
        CHECK(rc == UCD_ERR__NOT_INITIALIZED);
        CHECK(message.rfind(function + ": ", 0) == 0);
        CHECK(message.find("ucd_init") != std::string::npos);
        CHECK(message.find(": ", function.size() + 2) == std::string::npos); // no other's name
    };
    check("ucd_ucx_create", ucd_ucx_create(side.worker, &params, UCD_INFO__NULL, &ucx));
    check("ucd_ucx_datatype", ucd_ucx_datatype(UCD_TYPE__INT, UCD_INFO__NULL, &dt));
    check("ucd_ucx_prepare",
          ucd_ucx_prepare(&side, 1, UCD_TYPE__INT, UCD_INFO__NULL, &buffer, &count, &dt));
    CHECK(ucx == nullptr);
    // After a ucd_init that failed, its reason is repeated.
    REQUIRE(setenv("UCD_THREADS", "no", 1) == 0);
    CHECK(ucd_init(UCD_INFO__NULL) == UCD_ERR__INVALID_ARG);
    REQUIRE(unsetenv("UCD_THREADS") == 0);
    CHECK(ucd_ucx_datatype(UCD_TYPE__INT, UCD_INFO__NULL, &dt) == UCD_ERR__NOT_INITIALIZED);
    CHECK(std::string(ucd_ucx_last_error())
              .rfind("ucd_ucx_datatype: ucd_init failed: UCD_THREADS is \"no\"", 0) == 0);
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

} // namespace attacks_am_id_test
