// Whichever allocation of progress fails, once, at either side: what is under way ends, and the
// next one works.

#include "rma/one_sided.h"
#include "support/moves/device_moves.hpp"
#include "ucx/failing_progress.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/strided.hpp"

#include <algorithm>
#include <memory>

using namespace ucdtest;

namespace {

// How operations ended.
struct Tally {
    std::size_t ok = 0, no_memory = 0;
    void add(ucs_status_t status) { ++(status == UCS_OK ? ok : no_memory); }
};

// Every second int; or irregular ones, so many that the target has to ask for the type.
ucd_type_t make_type(std::size_t ints, bool irregular) {
    ucd_type_t type = UCD_TYPE__NULL;
    std::vector<std::intptr_t> places;
    for (std::size_t i = 0; i < ints; ++i)
        places.push_back(static_cast<std::intptr_t>(2 * i + (i * i % 7 == 3)));
    const auto count = static_cast<std::intptr_t>(ints);
    ok(irregular ? ucd_create_indexed_block(count, 1, places.data(), UCD_TYPE__INT, nullptr, &type)
                 : ucd_create_vector(count, 1, 2, UCD_TYPE__INT, nullptr, &type),
       "a type");
    return type;
}

// Two sides that are connected, and a window of the second's.
struct Sides {
    RmaPair pair;
    std::vector<int> memory;
    ucd_ucx_window_t window = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_key_t key;

    Sides(std::size_t ints, ucs_thread_mode_t mode) : pair(small_chunks, mode), memory(ints) {
        ok(ucd_ucx_window_create(pair.b.rma, memory.data(), 4 * ints, nullptr, &window),
           "a window");
        ok(ucd_ucx_window_key(window, &key), "its key");
        RmaTestOperation first(1);
        ok(first.start(What::get, pair.a, &key, 0), "get"); // UCX connects
        REQUIRE(until(first));
    }
    bool until(RmaTestOperation &op) {
        FailingProgress none(false, 0);
        return until(op, none);
    }
    bool until(RmaTestOperation &op, FailingProgress &progress) {
        return progress.until([this] { pair.a.progress(); }, [this] { pair.b.progress(); },
                              [&] { return op.done(); });
    }
    // Nothing is at work on it any more.
    bool destroys_window() {
        FailingProgress none(false, 0);
        return none.until([this] { pair.a.progress(); }, [this] { pair.b.progress(); },
                          [&] { return ucd_ucx_window_destroy(&window) == UCD_SUCCESS; });
    }
};

// Whether all allocations succeeded.
bool run(Sides &sides, What what, std::size_t ints, ucd_type_t type, bool at_target,
         std::size_t nth, Tally &tally) {
    std::vector<int> &memory = sides.memory;
    std::fill(memory.begin(), memory.end(), 5);
    FailingProgress failing(at_target, nth);
    RmaTestOperation op(ints), next(8);
    ok(op.start(what, sides.pair.a, &sides.key, 0, type, 1), "an operation");
    REQUIRE(sides.until(op, failing));
    CHECK(ended_as_it_may(op.status()));
    tally.add(op.status());
    const bool fetches = what == What::get || what == What::get_accumulate;
    if (op.status() == UCS_OK && fetches) CHECK(op.out == std::vector<int>(ints, 5));
    const int now = what == What::get ? 5 : what == What::put ? 1 : 6;
    const auto done = static_cast<std::size_t>(std::count(memory.begin(), memory.end(), now));
    if (op.status() == UCS_OK) CHECK(done >= ints);

    ok(next.start(What::accumulate, sides.pair.a, &sides.key, static_cast<std::intptr_t>(8 * ints)),
       "the next");
    REQUIRE(sides.until(next));
    CHECK(next.status() == UCS_OK);
    CHECK(std::count(memory.end() - 8, memory.end(), 6) == 8);
    return !failing.has_failed();
}

// `anew`: the sides know nothing of each other each time. That takes the kernel a while.
void sweep(std::initializer_list<What> all, std::size_t ints, bool anew,
           ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE, bool irregular = false) {
    ucd_type_t type = make_type(ints, irregular);
    for (const bool at_target : {false, true}) {
        Tally tally;
        auto sides = std::make_unique<Sides>(2 * ints + 8, mode);
        for (const What what : all) {
            bool succeeded = false;
            for (std::size_t nth = 1; !succeeded; ++nth) {
                INFO("operation " << static_cast<int>(what) << ", allocation " << nth << " of the "
                                  << (at_target ? "target" : "origin"));
                REQUIRE(nth < 1000);
                succeeded = run(*sides, what, ints, type, at_target, nth, tally);
                if (!anew) continue;
                CHECK(sides->destroys_window());
                sides = std::make_unique<Sides>(2 * ints + 8, mode);
            }
        }
        CHECK(sides->destroys_window());
        WARN("at the " << (at_target ? "target" : "origin") << ": " << tally.ok << " were done, "
                       << tally.no_memory << " found no memory");
    }
    ok(ucd_free(&type), "free");
}

} // namespace

TEST_CASE("one-sided operations of one message end, whichever allocation fails") {
    const DeviceSession session;
    sweep({What::put, What::get, What::accumulate, What::get_accumulate}, 8, false);
    sweep({What::put}, 8, true);
}

TEST_CASE("one-sided operations in chunks end, whichever allocation fails") {
    const DeviceSession session;
    sweep({What::put, What::get, What::accumulate, What::get_accumulate}, 1500, false);
    sweep({What::get_accumulate}, 1500, true);
}

TEST_CASE("one-sided operations end, whichever allocation fails, with locks") {
    const DeviceSession session;
    constexpr ucs_thread_mode_t locks = UCS_THREAD_MODE_MULTI;
    sweep({What::put, What::get, What::accumulate, What::get_accumulate}, 8, false, locks);
    sweep({What::put, What::get, What::accumulate, What::get_accumulate}, 1500, false, locks);
}

TEST_CASE("one-sided operations whose type is asked for end, whichever allocation fails") {
    const DeviceSession session;
    sweep({What::put}, 5000, true, UCS_THREAD_MODE_SINGLE, true);
}

namespace {

// The same, while its endpoint is lost at both sides.
bool run_and_lose(What what, bool at_target, std::size_t nth) {
    Sides sides(4000, UCS_THREAD_MODE_SINGLE);
    RmaPair &pair = sides.pair;
    FailingProgress failing(at_target, nth);
    RmaTestOperation op(4000), held(4000);
    ok(op.start(what, pair.a, &sides.key, 0), "an operation");
    ok(ucd_ucx_rma_fence(pair.a.rma, pair.a.ep()), "fence");
    ok(held.start(what, pair.a, &sides.key, 0), "an operation that waits");
    for (int i = 0; i < 2; ++i) pair.progress();
    for (RmaSide *side : {&pair.a, &pair.b})
        ok(ucd_ucx_rma_lose_endpoint(side->rma, side->ep(), UCS_ERR_TIMED_OUT), "lose");
    // A rendezvous of UCX 1.16 or newer keeps the memory until the endpoint is closed.
    (void)(sides.until(op, failing) && sides.until(held, failing));
    for (RmaSide *side : {&pair.a, &pair.b}) side->close_endpoint(); // UCX lets the window go
    REQUIRE(sides.until(op));
    REQUIRE(sides.until(held));
    CHECK(op.status() == UCS_ERR_TIMED_OUT);
    CHECK(held.status() == UCS_ERR_TIMED_OUT);
    CHECK(sides.destroys_window());
    return !failing.has_failed();
}

} // namespace

TEST_CASE("operations end with their endpoint, whichever allocation fails") {
    const DeviceSession session;
    std::size_t failed = 0;
    for (const What what : {What::put, What::get}) {
        for (const bool at_target : {false, true}) {
            for (std::size_t nth = 1;; ++nth) {
                INFO("operation " << static_cast<int>(what) << ", allocation " << nth << " of the "
                                  << (at_target ? "target" : "origin"));
                REQUIRE(nth < 1000);
                if (run_and_lose(what, at_target, nth)) break;
                ++failed;
            }
        }
    }
    CHECK(failed > 10);
}

// Messages that UCX does not let be held -------------------------------------

namespace {

// As UCX delivers it, from the peer of this side, in memory that is gone on return.
void deliver(ucd_ucx::Engine &engine, ucp_ep_h from, std::string header, std::string data,
             std::size_t failing) {
    ucp_am_recv_param_t param = {};
    param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
    param.reply_ep = from;
    fail_allocation(failing);
    const ucs_status_t status = ucd_ucx::Engine::on_am(&engine, header.data(), header.size(),
                                                       data.data(), data.size(), &param);
    (void)end_failing();
    CHECK(status == UCS_OK);
}

void deliver(RmaSide &side, const std::string &message, std::size_t failing) {
    deliver(side.rma->engine, side.ep(), {}, message, failing);
}

} // namespace

TEST_CASE("a request that there is no memory to keep is done if it is short, else refused") {
    const DeviceSession session;
    HandOrigin origin;
    for (const std::size_t bytes : {50, 5000, 50, 5000}) {
        ++origin.request.number;
        origin.request.count = bytes;
        deliver(origin.b, origin.request.text() + std::string(bytes, 'd'), 1);
        const wire::Said said = origin.hand.next_said();
        CHECK((said.is_answer() && said.number == origin.request.number));
        CHECK(said.first == (bytes == 50 ? wire::done : wire::no_memory));
    }
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 50);
    // Two at once: there is one spare place.
    ++origin.request.number;
    for (int i = 0; i < 2; ++i) {
        deliver(origin.b, origin.request.text() + std::string(5000, 'd'), 1);
        if (i == 0) ++origin.request.number;
    }
    CHECK(origin.hand.next_said().number == origin.request.number - 1);
    origin.hand.progress(20);
    CHECK_FALSE(origin.hand.has_said());
    ++origin.request.number;
    origin.request.count = 50;
    CHECK(origin.verdict_of(origin.request.text() + origin.data) == wire::done);
}

TEST_CASE("an operation whose type there is no memory to keep is refused") {
    const DeviceSession session;
    HandOrigin origin;
    origin.request.by_name = true;
    origin.request.type = name_of(origin.request.type);
    origin.request.number = 3;
    origin.hand.say(origin.request.text(), origin.data);
    REQUIRE(origin.hand.next_said().verb == wire::need_type);
    // Of no such operation it is dropped.
    for (const unsigned number : {4U, 3U}) {
        deliver(origin.b, wire::preamble(wire::type_message, number) + std::string(5000, 't'), 1);
        origin.hand.progress(20);
        CHECK(origin.hand.has_said() == (number == 3));
    }
    const wire::Said said = origin.hand.next_said();
    CHECK((said.is_answer() && said.number == 3 && said.first == wire::no_memory));
    CHECK(origin.is_untouched());
    CHECK(ucd_ucx_window_destroy(&origin.window.handle) == UCD_SUCCESS);
}

TEST_CASE("an operation whose answer there is no memory to keep ends") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    for (const std::size_t ints : {std::size_t{10}, std::size_t{1200}}) {
        RmaTestOperation get(ints);
        ok(get.start(What::get, target.a, &key, 0), "get");
        const auto number = target.hand.next_said().number;
        // An answer to nothing, with which its peer gets an account.
        deliver(target.a, wire::preamble(wire::answer, number + 1), 0);
        deliver(target.a, wire::preamble(wire::answer, number) + std::string(4 * ints, '\0'), 1);
        REQUIRE(target.hand.within(5, [&] { return get.done(); }));
        CHECK(get.status() == (ints == 10 ? UCS_OK : UCS_ERR_NO_MEMORY));
        CHECK(get.o.result.ucd == (ints == 10 ? UCD_SUCCESS : UCD_ERR__OUT_OF_MEM));
        CHECK(std::count(get.out.begin(), get.out.end(), 0) == (ints == 10 ? 10 : 0));
    }
}

TEST_CASE(
    "a user's message that there is no memory to keep is announced, and fails if it is long") {
    const DeviceSession session;
    TwoSides sides;
    struct Told {
        ucd_ucx_pipeline_t pipeline;
        std::string header;
        std::string bytes;
        Outcome o;
    };
    ucd_ucx::Header h;
    h.kind = ucd_ucx::Kind::whole;
    h.id = {77, 0};
    h.user_header = 40;
    // There is no memory for the message, its header, or its data; or for all.
    for (const auto &[failing, bytes] : {std::pair<std::size_t, std::size_t>(1, 10),
                                         {2, 10},
                                         {3, 10},
                                         {4, 10},
                                         {1, 3000},
                                         {2, 3000},
                                         {3, 3000},
                                         {4, 3000}}) {
        INFO("allocation " << failing << ", " << bytes << " bytes");
        h.total = bytes;
        Told told = {sides.b.pipeline, {}, std::string(bytes, '\0'), {}};
        const auto take = [](void *argument, unsigned, const void *header, size_t bytes,
                             ucd_ucx_data_t data, uint64_t, ucp_ep_h) {
            auto *t = static_cast<Told *>(argument);
            t->header.assign(static_cast<const char *>(header), bytes);
            const ucd_ucx_param_t p = t->o.param();
            ok(ucd_ucx_am_recv_nbx(t->pipeline, data, t->bytes.data(), t->bytes.size(),
                                   UCD_TYPE__CHAR, &p, &t->o.request),
               "receive");
        };
        ok(ucd_ucx_am_set_handler(sides.b.pipeline, take, &told), "a handler");
        ++h.id.number;
        deliver(sides.b.pipeline->engine, sides.b.ep,
                std::string(reinterpret_cast<const char *>(&h), sizeof h) + std::string(40, 'h'),
                std::string(bytes, 'd'), failing);
        sides.until([&] { return told.o.done(); });
        CHECK(told.header == std::string(40, 'h'));
        const bool lost = failing < 4 && bytes == 3000;
        CHECK(told.o.result.status == (lost ? UCS_ERR_NO_MEMORY : UCS_OK));
        CHECK(told.o.result.ucd == (lost ? UCD_ERR__OUT_OF_MEM : UCD_SUCCESS));
        CHECK(told.bytes == std::string(bytes, lost ? '\0' : 'd'));
    }
    ok(ucd_ucx_am_set_handler(sides.b.pipeline, nullptr, nullptr), "no handler");
}
