// What there is no memory for fails, and takes nothing else with it.

#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/failing_progress.hpp"
#include "ucx/families.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/strided.hpp"

#include <algorithm>
#include <memory>

namespace no_memory_test {

using namespace ucdtest;

namespace {

// An origin of the library's, and a target by hand that may speak without its hearing.
struct Listener {
    RmaSide a{no_keys.get(), UCS_THREAD_MODE_SINGLE};
    bool paused = false;
    Attacker hand{a.side.address(), [this] {
                      if (!paused) a.progress();
                  }};
    ucd_ucx_window_key_t key = made_up_key();
    Listener() { a.side.connect(hand.side.address()); }
    ~Listener() { a.close_endpoint(); }
    void answer(std::uint64_t number) { hand.say(wire::preamble(wire::answer, number)); }
};

// A put of an int into a type that nothing knows yet.
struct NewPut {
    int value = 7;
    ucd_type_t type = UCD_TYPE__NULL;
    Outcome o;
    explicit NewPut(std::size_t n) {
        const auto displacement = static_cast<std::intptr_t>(4 * n);
        ok(ucd_create_hindexed_block(1, 1, &displacement, UCD_TYPE__INT, UCD_INFO__NULL, &type),
           "hindexed_block");
    }
    ~NewPut() { (void)ucd_free(&type); }
    int start(Listener &listener, ucd_info_t info = UCD_INFO__NULL) {
        const ucd_ucx_param_t p = o.param(info);
        return ucd_ucx_put_nbx(listener.a.rma, listener.a.ep(), &value, 1, UCD_TYPE__INT,
                               &listener.key, 0, 1, type, &p, &o.request);
    }
};

} // namespace

DEVICE_TEST("an operation for which there is no memory has not begun") {
    Listener listener;
    const Keys keys({{"ucd.ucx.timeout", "1000"}, {"ucd.ucx.chunk", "1000"}});
    // Another one first: there are numbers for the rest.
    NewPut before(0);
    ok(before.start(listener), "put");
    listener.answer(listener.hand.next_said().number);
    REQUIRE(listener.hand.within(5, [&] { return before.o.done(); }));
    std::size_t failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        NewPut put(nth);
        fail_allocation(nth);
        const int rc = put.start(listener, keys.get());
        const bool all = end_failing();
        INFO("allocation " << nth);
        if (all) {
            REQUIRE(rc == UCD_SUCCESS);
            listener.answer(listener.hand.next_said().number);
            REQUIRE(listener.hand.within(5, [&] { return put.o.done(); }));
            CHECK(put.o.result.status == UCS_OK);
            break;
        }
        ++failed;
        CHECK(rc == UCD_ERR__OUT_OF_MEM);
        CHECK(put.o.request == UCD_UCX_REQUEST__NULL);
    }
    CHECK(failed > 10);
    listener.hand.progress(20);
    CHECK_FALSE(listener.hand.has_said());
    // A flush has nothing to wait for, and the end of the test nothing that is outstanding.
    ucd_ucx_request_t flush = nullptr;
    ok(ucd_ucx_flush_nbx(listener.a.rma, nullptr, nullptr, &flush), "flush");
    CHECK(flush == UCD_UCX_REQUEST__NULL);
}

DEVICE_TEST("an operation behind a fence for which there is no memory ends, and the next goes on") {
    Listener listener;
    std::size_t failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        NewPut first(2 * nth), behind(2 * nth + 1), last(0);
        ok(first.start(listener), "put");
        const wire::Said said = listener.hand.next_said();
        ok(ucd_ucx_fence(listener.a.rma, listener.a.ep()), "fence");
        ok(behind.start(listener), "put");
        ok(ucd_ucx_fence(listener.a.rma, listener.a.ep()), "fence");
        ok(last.start(listener), "put");
        listener.paused = true;
        listener.answer(said.number);
        fail_allocation(nth);
        listener.a.progress();
        const bool all = end_failing();
        listener.paused = false;
        INFO("allocation " << nth);
        if (all) listener.answer(listener.hand.next_said().number);
        failed += !all;
        const wire::Said next = listener.hand.next_said();
        listener.answer(next.number);
        REQUIRE(listener.hand.within(5, [&] { return last.o.done(); }));
        CHECK(first.o.result.status == UCS_OK);
        CHECK(behind.o.result.status == (all ? UCS_OK : UCS_ERR_IO_ERROR));
        CHECK(last.o.result.status == UCS_OK);
        if (all) break;
        CHECK(behind.o.result.ucd == UCD_ERR__OUT_OF_MEM);
    }
    CHECK(failed >= 1);
}

DEVICE_TEST("progress that finds no memory says that there is more to do") {
    Listener listener;
    NewPut put(1);
    ok(put.start(listener), "put");
    (void)listener.hand.next_said();
    listener.hand.progress(20);
    listener.a.lose_endpoint();
    fail_allocation(1); // to look at what has failed
    const unsigned moved = ucd_ucx_progress(listener.a.rma);
    CHECK_FALSE(end_failing());
    CHECK(moved > 0);
    CHECK_FALSE(put.o.done());
    REQUIRE(listener.hand.within(5, [&] { return put.o.done(); }));
    CHECK(put.o.result.status == UCS_ERR_CONNECTION_RESET);
}

DEVICE_TEST("a send that finds no memory to pack says so, or sends all") {
    TwoSides sides;
    std::size_t failed = 0;
    for (std::size_t nth = 1;; ++nth) {
        Strided in(100 + nth), out(100 + nth);
        Outcome sent;
        fail_allocation(nth);
        const int rc = start_send(sides.a, in, sent, nth);
        const bool all = end_failing();
        failed += !all;
        INFO("allocation " << nth);
        if (rc != UCD_SUCCESS) {
            CHECK_FALSE(all);
            CHECK(rc == UCD_ERR__OUT_OF_MEM);
            continue;
        }
        Outcome received;
        REQUIRE(start_receive(sides.b, out, received, nth) == UCD_SUCCESS);
        sides.until([&] { return sent.done() && received.done(); });
        CHECK(received.result.status == UCS_OK);
        CHECK(out.received_from(in));
        if (all) break;
    }
    CHECK(failed >= 2);
}

DEVICE_TEST("a target that finds no memory for data that comes in chunks refuses it") {
    HandOrigin origin;
    origin.request.number = 1;
    CHECK(origin.verdict() == wire::done); // now the type is known
    std::fill(origin.memory.begin(), origin.memory.end(), 'm');
    origin.request.index = 0;
    origin.request.is_known = true;
    origin.request.type.clear();
    std::size_t refused = 0;
    bool all = false;
    for (std::size_t nth = 1; !all; ++nth) {
        ++origin.request.number;
        wire::Message m = origin.hand.new_message(wire::user_offer, 50);
        m.user_header = origin.request.text();
        origin.paused = true;
        origin.hand.active(m);
        fail_allocation(nth);
        origin.b.progress();
        all = end_failing();
        origin.paused = false;
        origin.hand.progress(20);
        INFO("allocation " << nth);
        if (all) {
            CHECK_FALSE(origin.hand.has_said());
            CHECK(origin.is_untouched());
            m.kind = wire::chunk;
            m.user_header.clear();
            origin.hand.active(m, origin.data);
            CHECK(origin.hand.next_said().first == wire::done);
        } else if (origin.hand.has_said()) { // else the message itself had no room
            const wire::Said said = origin.hand.next_said();
            CHECK((said.is_answer() && said.number == origin.request.number));
            CHECK(said.first == wire::no_memory);
            ++refused;
        }
    }
    WARN(refused << " were refused");
    CHECK(refused >= 1);
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 50);
}

DEVICE_TEST("data that nobody wants is completed at its sender, with memory for it or not") {
    Side victim(UCS_THREAD_MODE_MULTI);
    victim.open_pipeline(UCD_INFO__NULL);
    bool paused = false;
    Attacker attacker(victim.address(), [&] {
        if (!paused) ucd_ucx_progress(victim.pipeline);
    });
    victim.connect(attacker.side.address());
    // Without a handler it is dropped when it comes.
    const std::string data(20000, 'd');
    const auto send = [&](std::size_t failing) {
        wire::Message m = attacker.new_message(wire::whole, data.size());
        m.user_id = 1;
        paused = true;
        attacker.active_by_rendezvous(m, data);
        attacker.progress(3);
        if (failing > 0) fail_allocation(failing);
        ucd_ucx_progress(victim.pipeline);
        const bool all = failing > 0 && end_failing();
        paused = false;
        REQUIRE(attacker.within(5, [&] { return attacker.unfinished() == 0; }));
        attacker.progress(5);
        return all;
    };
    for (int i = 0; i < 10; ++i) (void)send(0);
    const std::ptrdiff_t before = live_allocations();
    for (int i = 0; i < 20; ++i) (void)send(0);
    CHECK(live_allocations() <= before + 5);
    std::size_t nth = 1;
    while (!send(nth)) ++nth;
    CHECK(nth > 4);
    CHECK(live_allocations() <= before + 15);
    victim.close_endpoint();
}

// Whichever allocation fails --------------------------------------------------

namespace {

struct Sweep {
    Means means;
    MoveShape shape;
    bool anew = false; // sides that know nothing of each other have more to allocate
    ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE;
};

// Whether all allocations succeeded.
bool move_while_failing(FamilyPair &pair, const MoveShape &shape, bool at_b, std::size_t nth,
                        std::size_t &no_memory) {
    const auto a = [&] { pair.progress_a(); };
    const auto b = [&] { pair.progress_b(); };
    FailingProgress failing(at_b, nth), none(false, 0);
    for (const bool first : {true, false}) {
        FamilyMove move(pair, shape);
        ok(move.start(), to_text(pair.means));
        REQUIRE((first ? failing : none).until(a, b, [&] { return move.done(); }));
        const ucs_status_t status = move.result().status;
        CHECK((first ? ended_as_it_may(status) : status == UCS_OK));
        no_memory += status != UCS_OK;
        if (status == UCS_OK) CHECK(move.is_right());
        CHECK(move.gaps_are_whole());
        REQUIRE(none.until(a, b, [&] { return move.ends_window(); }));
    }
    return !failing.has_failed();
}

void sweep(const Sweep &s) {
    for (const bool at_b : {false, true}) {
        std::unique_ptr<FamilyPair> pair;
        std::size_t no_memory = 0, nth = 1;
        for (bool all = false; !all; ++nth) {
            INFO(to_text(s.means) << " of " << s.shape.ints << ", allocation " << nth << " of side "
                                  << "ab"[at_b]);
            REQUIRE(nth < 1000);
            if (pair == nullptr || s.anew) {
                pair = std::make_unique<FamilyPair>(
                    s.means,
                    std::initializer_list<std::pair<std::string, std::string>> SMALL_CHUNKS,
                    s.mode);
                if (is_one_sided(s.means)) CHECK(pair->is_usable()); // UCX connects
            }
            all = move_while_failing(*pair, s.shape, at_b, nth, no_memory);
        }
        WARN(to_text(s.means) << " of " << s.shape.ints << ", side "
                              << "ab"[at_b] << ": " << no_memory << " of " << nth - 2
                              << " found no memory");
    }
}

} // namespace

DEVICE_TEST("a move ends at both sides, whichever allocation fails") {
    for (const Means means : all_means)
        for (const std::size_t ints : {std::size_t{8}, std::size_t{1500}})
            for (const ucs_thread_mode_t mode : {UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_MULTI})
                sweep({means, {.ints = ints}, false, mode});
}

DEVICE_TEST("a move between new sides ends at both, whichever allocation fails") {
    for (const Means means : {Means::tagged, Means::active, Means::get_accumulate})
        sweep({means, {.ints = 1500}, true});
    sweep({Means::put, {.ints = 8}, true});
    sweep({Means::put, {.ints = 5000, .irregular = true}, true}); // the target asks for the type
}

namespace {

bool lose_while_failing(Means means, bool at_b, std::size_t nth) {
    FamilyPair pair(means, SMALL_CHUNKS);
    CHECK(pair.is_usable());
    const auto a = [&] { pair.progress_a(); };
    const auto b = [&] { pair.progress_b(); };
    FailingProgress failing(at_b, nth), none(false, 0);
    FamilyMove move(pair, {.ints = 4000}, 1), held(pair, {.ints = 4000}, 2);
    ok(move.start(), to_text(means));
    if (pair.one_sided()) ok(ucd_ucx_fence(pair.one_sided()->a.rma, pair.a().ep), "fence");
    ok(held.start(), to_text(means));
    for (int i = 0; i < 2; ++i) pair.progress();
    pair.lose_endpoint(pair.a(), UCS_ERR_TIMED_OUT);
    pair.lose_endpoint(pair.b(), UCS_ERR_TIMED_OUT);
    // A rendezvous of UCX 1.16 or newer keeps the memory until the endpoint is closed.
    (void)failing.until(a, b, [&] { return move.done() && held.done(); });
    pair.close_endpoint(pair.a());
    pair.close_endpoint(pair.b());
    REQUIRE(none.until(a, b, [&] { return move.first.done() && held.first.done(); }));
    for (FamilyMove *m : {&move, &held}) {
        m->cancel_receive();
        CHECK(m->first.result.status == UCS_ERR_TIMED_OUT);
        REQUIRE(none.until(a, b, [&] { return m->done() && m->ends_window(); }));
    }
    return !failing.has_failed();
}

} // namespace

DEVICE_TEST("moves end with their endpoint, whichever allocation fails") {
    for (const Means means : {Means::tagged, Means::active, Means::put, Means::get}) {
        std::size_t failed = 0;
        for (const bool at_b : {false, true}) {
            for (std::size_t nth = 1;; ++nth) {
                INFO(to_text(means) << ", allocation " << nth << " of side "
                                    << "ab"[at_b]);
                REQUIRE(nth < 1000);
                if (lose_while_failing(means, at_b, nth)) break;
                ++failed;
            }
        }
        CHECK(failed > 2);
    }
}

} // namespace no_memory_test
