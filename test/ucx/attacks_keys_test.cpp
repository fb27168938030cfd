// What honest users get wrong: they are told what, by the function that they called.

#include "support/device_test.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/strided.hpp"

namespace attacks_keys_test {

using namespace ucdtest;

namespace {

// Every function that takes an info, with that info.
struct Callers {
    TwoSides sides;
    RmaPair pair;
    int memory[4] = {}, here[4] = {};
    Window window{pair.b, memory, sizeof memory};
    ucdtest::Told announced{sides.b};

    Callers() { announce(); }
    void announce() {
        const int before = announced.times;
        Outcome sent;
        start_active(sides.a, {here, 4, UCD_TYPE__CHAR}, sent, {});
        sides.until([&] { return announced.times > before && sent.done(); });
    }

    int datatype(ucd_info_t info) {
        ucp_datatype_t dt;
        const int rc = ucd_ucx_datatype(UCD_TYPE__INT, info, &dt);
        if (rc == UCD_SUCCESS) (void)ucd_ucx_release(nullptr, dt);
        return rc;
    }
    int prepare(ucd_info_t info) {
        void *buffer;
        std::size_t count;
        ucp_datatype_t dt;
        const int rc = ucd_ucx_prepare(here, 1, UCD_TYPE__INT, info, &buffer, &count, &dt);
        if (rc == UCD_SUCCESS) (void)ucd_ucx_release(buffer, dt);
        return rc;
    }
    int create(ucd_info_t info) {
        ucd_ucx_params_t params = {};
        params.struct_size = sizeof params;
        params.am_id = am_id + 1;
        params.families = UCD_UCX_TRANSFERS | UCD_UCX_ONE_SIDED;
        ucd_ucx_t ucx = nullptr;
        const int rc = ucd_ucx_create(sides.a.worker, &params, info, &ucx);
        if (rc == UCD_SUCCESS) (void)ucd_ucx_destroy(&ucx);
        return rc;
    }
    int window_create(ucd_info_t info) {
        ucd_ucx_window_t made = nullptr;
        const int rc = ucd_ucx_window_create(pair.b.rma, here, sizeof here, info, &made);
        if (rc == UCD_SUCCESS) (void)ucd_ucx_window_destroy(&made);
        return rc;
    }
    // Those with a param, and what is to be done for them to end.
    template <class Start, class End>
    int start(ucd_info_t info, Start start, End end) {
        Outcome o;
        const ucd_ucx_param_t p = o.param(info);
        const int rc = start(&p, &o.request);
        if (rc != UCD_SUCCESS) return rc;
        o.started();
        end(o);
        return rc;
    }
    int send(ucd_info_t info) {
        return start(
            info,
            [&](auto *p, auto *r) {
                return ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, here, 1, UCD_TYPE__INT, 1, p,
                                        r);
            },
            [&](Outcome &o) {
                Outcome received;
                start_receive(sides.b, {memory, 1, UCD_TYPE__INT}, received, 1, UCD_INFO__NULL, 1);
                sides.until([&] { return o.done() && received.done(); });
            });
    }
    int recv(ucd_info_t info) {
        return start(
            info,
            [&](auto *p, auto *r) {
                return ucd_ucx_recv_nbx(sides.b.pipeline, memory, 1, UCD_TYPE__INT, 1, 1, p, r);
            },
            [&](Outcome &o) {
                ok(ucd_ucx_cancel(sides.b.pipeline, o.request), "ucd_ucx_cancel");
                sides.until([&] { return o.done(); });
            });
    }
    int am_send(ucd_info_t info) {
        return start(
            info,
            [&](auto *p, auto *r) {
                return ucd_ucx_am_send_nbx(sides.b.pipeline, sides.b.ep, 1, nullptr, 0, here, 1,
                                           UCD_TYPE__INT, p, r);
            },
            [&](Outcome &o) { sides.until([&] { return o.done(); }); });
    }
    int am_recv(ucd_info_t info) {
        return start(
            info,
            [&](auto *p, auto *r) {
                return ucd_ucx_am_recv_nbx(sides.b.pipeline, announced.data, memory, 1,
                                           UCD_TYPE__INT, p, r);
            },
            [&](Outcome &o) {
                sides.until([&] { return o.done(); });
                announce();
            });
    }
    template <What what>
    int operate(ucd_info_t info) {
        RmaTestOperation operation(1);
        const int rc = operation.start(what, pair.a, window.key(), 0, UCD_TYPE__INT, 1, info);
        if (rc != UCD_SUCCESS) return rc;
        operation.o.started();
        pair.until([&] { return operation.done(); });
        return rc;
    }
};

const struct {
    const char *function;
    int (Callers::*call)(ucd_info_t);
} callers[] = {{"ucd_ucx_datatype", &Callers::datatype},
               {"ucd_ucx_prepare", &Callers::prepare},
               {"ucd_ucx_create", &Callers::create},
               {"ucd_ucx_send_nbx", &Callers::send},
               {"ucd_ucx_recv_nbx", &Callers::recv},
               {"ucd_ucx_am_send_nbx", &Callers::am_send},
               {"ucd_ucx_am_recv_nbx", &Callers::am_recv},
               {"ucd_ucx_window_create", &Callers::window_create},
               {"ucd_ucx_put_nbx", &Callers::operate<What::put>},
               {"ucd_ucx_get_nbx", &Callers::operate<What::get>},
               {"ucd_ucx_accumulate_nbx", &Callers::operate<What::accumulate>},
               {"ucd_ucx_get_accumulate_nbx", &Callers::operate<What::get_accumulate>}};

} // namespace

DEVICE_TEST("a key that is misspelt is refused, and the nearest one named") {
    Callers all;
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
        for (const auto &[function, call] : callers) {
            INFO(function << " with " << key);
            CHECK((all.*call)(keys.get()) == UCD_ERR__INVALID_ARG);
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
        CHECK((all.*call)(keys.get()) == UCD_SUCCESS);
    }
}

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
    ucd_type_t twice;
    ok(ucd_create_hvector(2, 1, 0, UCD_TYPE__INT, UCD_INFO__NULL, &twice), "hvector");
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

} // namespace attacks_keys_test
