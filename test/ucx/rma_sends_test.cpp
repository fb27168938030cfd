// One-sided messages that UCX refuses, or takes its time to send; and what must not be sent.

#include "api/object.h"
#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/type_name.hpp"
#include "ucx/ucx_sends.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace rma_sends_test {

using namespace ucdtest;
using Fate = UcxSends::Fate;

namespace {

// A hint that names no memory: what is packed by it fails.
const Keys nowhere({{"ucd.inbuf", "mock:9"}});

struct Put {
    char bytes[10] = {'p', 'u', 't', 'p', 'u', 't', 'p', 'u', 't', '.'};
    Outcome o;
    int start(RmaSide &a, const ucd_ucx_window_key_t &key, std::intptr_t displacement = 0,
              ucd_info_t info = UCD_INFO__NULL) {
        const ucd_ucx_param_t p = o.param(info);
        return ucd_ucx_put_nbx(a.rma, a.ep(), bytes, 10, UCD_TYPE__CHAR, &key, displacement, 10,
                               UCD_TYPE__CHAR, &p, &o.request);
    }
};

std::uint32_t number_of(ucd_ucx_request_t request) {
    return static_cast<const ucd_ucx::rma::RmaOperation &>(*request).number;
}

} // namespace

DEVICE_TEST("an operation whose message UCX does not send ends with its status") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    // The numbers of operations differ, and memory of messages is used again.
    for (int round = 0; round < 3; ++round) {
        Put put, other;
        {
            UcxSends sends(target.a.ep());
            sends.next = {Fate::held};
            ok(put.start(target.a, key), "put");
            ok(other.start(target.a, key), "put");
            target.hand.progress(20);
            CHECK_FALSE(put.o.done());
            sends.end_held(UCS_ERR_REJECTED);
            target.hand.progress(20);
        }
        REQUIRE(put.o.done());
        CHECK(put.o.result.status == UCS_ERR_REJECTED);
        CHECK_FALSE(other.o.done());
        target.answer(target.hand.next_said().number);
        REQUIRE(target.hand.within(5, [&] { return other.o.done(); }));
        CHECK(other.o.result.status == UCS_OK);
    }
    // At once: then it has not begun.
    Put put;
    UcxSends sends(target.a.ep());
    sends.next = {Fate::ended};
    sends.status = UCS_ERR_REJECTED;
    CHECK(put.start(target.a, key) == UCD_ERR__DEVICE);
    CHECK(put.o.request == UCD_UCX_REQUEST__NULL);
}

DEVICE_TEST(
    "an operation is lost with its endpoint if it began before, and not if it began later") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    for (const What what : every) {
        INFO("operation " << static_cast<int>(what));
        RmaTestOperation earlier(10), later(10);
        ok(earlier.start(what, target.a, &key, 0), "an operation");
        const wire::Said first = target.hand.next_said();
        target.a.lose_endpoint();
        ok(later.start(what, target.a, &key, 0), "an operation");
        const wire::Said second = target.hand.next_said();
        REQUIRE(target.hand.within(5, [&] { return earlier.done(); }));
        CHECK(earlier.status() == UCS_ERR_CONNECTION_RESET);
        target.answer(first.number);
        target.hand.progress(5);
        CHECK_FALSE(later.done());
        const bool fetches = what == What::get || what == What::get_accumulate;
        target.answer(second.number, 0, std::string(fetches ? 10 * sizeof(int) : 0, 'd'));
        REQUIRE(target.hand.within(5, [&] { return later.done(); }));
        CHECK(later.status() == UCS_OK);
    }
}

DEVICE_TEST("a request is lost with its endpoint if it came before, and not if it came later") {
    HandOrigin by_hand;
    ucd_ucx::rma::OneSided &target = *by_hand.b.rma->one_sided;
    const auto deliver = [&](const std::string &message, bool at_work = false) {
        ucp_am_recv_param_t param = {};
        param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
        param.reply_ep = by_hand.b.ep();
        std::string data = message;
        CHECK(ucd_ucx::WorkerEngine::on_am(&target.engine, nullptr, 0, data.data(), data.size(),
                                           &param) == UCS_OK);
        if (at_work) (void)target.engine.events.handle_all();
        by_hand.hand.progress(5);
    };
    by_hand.request.by_name = true;
    const auto ask = [&](bool at_work = false) {
        ++by_hand.request.number;
        deliver(by_hand.request.text() + by_hand.data, at_work);
        REQUIRE(by_hand.hand.next_said().verb == wire::need_type);
    };
    // Before progress handles the failure; and while it is at work, having looked for failures.
    for (const bool at_work : {false, true}) {
        const std::string type = flattened(at_work ? UCD_TYPE__BYTE : UCD_TYPE__CHAR);
        by_hand.request.type = name_of(type);
        ask();
        by_hand.b.lose_endpoint();
        ask(at_work);
        deliver(wire::preamble(wire::type_message, by_hand.request.number - 1) + type);
        deliver(wire::preamble(wire::type_message, by_hand.request.number) + type);
        const wire::Said said = by_hand.hand.next_said();
        CHECK((said.is_answer() && said.first == wire::done));
        CHECK(said.number == by_hand.request.number);
        CHECK_FALSE(by_hand.hand.has_said());
    }
    by_hand.b.lose_endpoint();
    by_hand.hand.progress(5);
    CHECK(ucd_ucx_window_destroy(&by_hand.window->handle) == UCD_SUCCESS); // nothing waits
}

DEVICE_TEST("an operation that has failed does not wait for its data") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    UcxSends sends(target.a.ep());
    sends.next = {Fate::held};
    RmaTestOperation get(1000);
    ok(get.start(What::get, target.a, &key, 0), "get");
    wire::Message m = target.hand.new_message(wire::user_offer, 4000);
    m.user_header = wire::preamble(wire::answer, number_of(get.o.request));
    target.hand.active(m);
    target.hand.progress(20);
    CHECK_FALSE(get.done());
    sends.end_held(UCS_ERR_REJECTED);
    REQUIRE(target.hand.within(5, [&] { return get.done(); }));
    CHECK(get.status() == UCS_ERR_REJECTED);
    m.kind = wire::chunk;
    m.user_header.clear();
    target.hand.active(m, std::string(4000, 'd'));
    target.hand.progress(20);
    CHECK(get.out == std::vector<int>(1000, -1));
}

DEVICE_TEST("an operation whose data cannot be packed sends nothing, and nothing waits for it") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    {
        const UcxSends sends(target.a.ep());
        Put bad;
        CHECK(bad.start(target.a, key, 0, nowhere.get()) != UCD_SUCCESS);
        CHECK(bad.o.request == UCD_UCX_REQUEST__NULL);
        CHECK(sends.calls.empty());
    }
    ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
    Put first, bad[3], last;
    ok(first.start(target.a, key), "put"); // at once: there is nothing before the fence
    const wire::Said said = target.hand.next_said();
    // Behind a fence it fails when its turn has come, and leaves the turn to the next one.
    ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
    for (Put &b : bad) ok(b.start(target.a, key, 0, nowhere.get()), "put");
    ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
    ok(last.start(target.a, key), "put");
    target.hand.progress(20);
    CHECK_FALSE(target.hand.has_said());
    target.answer(said.number);
    const wire::Said next = target.hand.next_said();
    target.answer(next.number);
    REQUIRE(target.hand.within(5, [&] { return last.o.done(); }));
    CHECK(first.o.result.status == UCS_OK);
    for (const Put &b : bad) {
        CHECK(b.o.result.status == UCS_ERR_IO_ERROR);
        CHECK(b.o.result.ucd != UCD_SUCCESS);
    }
    CHECK(last.o.result.status == UCS_OK);
}

DEVICE_TEST("a fence holds until all that is before it has ended") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put first, second, behind;
    ok(first.start(target.a, key), "put");
    const wire::Said one = target.hand.next_said();
    ok(second.start(target.a, key), "put");
    const wire::Said other = target.hand.next_said();
    ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
    target.answer(other.number);
    REQUIRE(target.hand.within(5, [&] { return second.o.done(); }));
    ok(behind.start(target.a, key), "put");
    target.hand.progress(20);
    CHECK_FALSE(target.hand.has_said());
    target.answer(one.number);
    target.answer(target.hand.next_said().number);
    REQUIRE(target.hand.within(5, [&] { return behind.o.done(); }));
    for (const Put *put : {&first, &second, &behind}) CHECK(put->o.result.status == UCS_OK);
}

DEVICE_TEST("fences hold for an endpoint that is used again after it was lost") {
    RmaPair pair;
    std::vector<int> memory(10, 7);
    const Window window(pair.b, memory.data(), 40);
    RmaTestOperation before(10), first(10), second(10);
    ok(before.start(What::put, pair.a, window.key(), 0), "put");
    pair.until([&] { return before.done(); });
    ok(ucd_ucx_lose_endpoint(pair.a.rma, pair.a.ep(), UCS_ERR_TIMED_OUT), "lose");
    for (int i = 0; i < 10; ++i) pair.progress();
    {
        const UcxSends sends(pair.a.ep());
        ok(first.start(What::put, pair.a, window.key(), 0), "put");
        ok(ucd_ucx_fence(pair.a.rma, nullptr), "fence");
        ok(second.start(What::put, pair.a, window.key(), 0), "put");
        CHECK(sends.calls.size() == 1);
        pair.until([&] { return first.done() && second.done(); });
    }
    CHECK(first.status() == UCS_OK);
    CHECK(second.status() == UCS_OK);
}

// As UCX may deliver it to a worker that sends to itself.
DEVICE_TEST("an answer that comes while its operation is being sent waits until that is sent") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put first, held, last;
    ok(first.start(target.a, key), "put");
    const wire::Said said = target.hand.next_said();
    for (Put *put : {&held, &last}) {
        ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
        ok(put->start(target.a, key), "put");
    }
    {
        UcxSends sends(target.a.ep());
        sends.status = UCS_OK;
        sends.next = {Fate::ended};
        sends.on_call = [&] {
            if (sends.calls.size() > 1) return;
            std::string answer = wire::preamble(wire::answer, number_of(held.o.request));
            ucp_am_recv_param_t param = {};
            param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
            param.reply_ep = target.a.ep();
            CHECK(ucd_ucx::WorkerEngine::on_am(&target.a.rma->engine, nullptr, 0, answer.data(),
                                               answer.size(), &param) == UCS_OK);
            CHECK_FALSE(held.o.request->is_complete());
        };
        target.answer(said.number);
        REQUIRE(target.hand.within(5, [&] { return sends.calls.size() == 2; }));
    }
    CHECK(held.o.done());
    target.answer(target.hand.next_said().number);
    REQUIRE(target.hand.within(5, [&] { return last.o.done(); }));
    for (const Put *put : {&first, &held, &last}) CHECK(put->o.result.status == UCS_OK);
}

DEVICE_TEST("as many operations as one likes fail behind a fence") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put first, last;
    ok(first.start(target.a, key), "put");
    const wire::Said said = target.hand.next_said();
    ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
    std::vector<Put> bad(3000); // as deep, calls of each other would end the stack
    for (Put &b : bad) ok(b.start(target.a, key, 0, nowhere.get()), "put");
    ok(last.start(target.a, key), "put");
    target.answer(said.number);
    target.answer(target.hand.next_said().number);
    REQUIRE(target.hand.within(10, [&] { return last.o.done(); }));
    for (const Put &b : bad) REQUIRE(b.o.result.status == UCS_ERR_IO_ERROR);
}

DEVICE_TEST("one-sided operations are not ended under those that are outstanding") {
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put put, held;
    ok(put.start(target.a, key), "put");
    const wire::Said said = target.hand.next_said();
    CHECK(ucd_ucx_destroy(&target.a.rma) == UCD_ERR__INVALID_ARG);
    ok(ucd_ucx_fence(target.a.rma, target.a.ep()), "fence");
    ok(held.start(target.a, key), "put");
    CHECK(ucd_ucx_destroy(&target.a.rma) == UCD_ERR__INVALID_ARG);
    target.answer(said.number);
    const wire::Said next = target.hand.next_said();
    CHECK(ucd_ucx_destroy(&target.a.rma) == UCD_ERR__INVALID_ARG);
    target.answer(next.number);
    REQUIRE(target.hand.within(5, [&] { return held.o.done(); }));
}

DEVICE_TEST("what waits for an operation is not sent by an endpoint that was lost") {
    RmaPair pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}});
    std::vector<char> memory(1000, 'm'), in(1000, 'i');
    const Window window(pair.b, memory.data(), memory.size());
    Outcome one;
    Put behind;
    UcxSends sends(pair.a.ep());
    sends.next = {Fate::sent}; // it announces the chunk
    sends.rest = Fate::held;
    start_put(pair.a, {in.data(), 1000, UCD_TYPE__CHAR}, {window.key(), 0, 1000, UCD_TYPE__CHAR},
              one);
    pair.until([&] { return sends.held() == 1; });
    ok(ucd_ucx_fence(pair.a.rma, pair.a.ep()), "fence");
    ok(behind.start(pair.a, *window.key()), "put");
    ok(ucd_ucx_lose_endpoint(pair.a.rma, pair.a.ep(), UCS_ERR_TIMED_OUT), "lose");
    sends.end_held(UCS_OK);
    sends.rest = Fate::sent;
    sends.calls.clear();
    for (int i = 0; i < 20; ++i) pair.progress();
    REQUIRE((one.done() && behind.o.done()));
    CHECK(one.result.status == UCS_ERR_TIMED_OUT);
    CHECK(behind.o.result.status == UCS_ERR_TIMED_OUT);
    CHECK(sends.calls.empty());
    CHECK(std::count(memory.begin(), memory.end(), 'm') == 1000);
    ok(ucd_ucx_lose_endpoint(pair.b.rma, pair.b.ep(), UCS_ERR_TIMED_OUT), "lose");
    for (int i = 0; i < 20; ++i) pair.progress();
}

// Half of this budget is for answers.
DEVICE_TEST("what an operation returns goes in chunks if one message exceeds the origin's budget") {
    RmaPair pair({{"ucd.ucx.eager", "1000000"}, {"ucd.ucx.peer_memory", "1048576"}});
    constexpr std::size_t half = 1 << 19;
    std::vector<char> memory(2 * half, 'm');
    const Window window(pair.b, memory.data(), memory.size());
    for (const std::size_t bytes : {half - 4096, half - 8, half, half + 1, std::size_t{900'000}}) {
        INFO(bytes << " bytes");
        std::vector<char> to(bytes, 'x');
        Outcome get, next;
        start_get(pair.a, {to.data(), bytes, UCD_TYPE__CHAR},
                  {window.key(), 0, bytes, UCD_TYPE__CHAR}, get);
        pair.until([&] { return get.done(); });
        CHECK(get.result.status == UCS_OK);
        CHECK(to == std::vector<char>(bytes, 'm'));
        // Nothing waits behind it.
        char old = 'x';
        const char same = 'm';
        start_get_accumulate(pair.a, {&same, 1, UCD_TYPE__CHAR}, {&old, 1, UCD_TYPE__CHAR},
                             {window.key(), 0, 1, UCD_TYPE__CHAR}, UCD_OP__REPLACE, next);
        pair.until([&] { return next.done(); });
        CHECK(next.result.status == UCS_OK);
        CHECK(old == 'm');
    }
}

// What UCX sends by rendezvous, and the target fetches: the data of a put, and a long type.
DEVICE_TEST("an operation whose target cannot fetch its data or its type fails") {
    RmaPair pair({{"ucd.ucx.chunk", "100000"}});
    constexpr std::size_t ints = 400000, few = 100000;
    std::vector<int> memory(2 * ints, 7);
    const Window window(pair.b, memory.data(), memory.size() * sizeof(int));
    std::vector<std::intptr_t> places = {0};
    while (places.size() < few)
        places.push_back(places.back() + 2 + static_cast<std::intptr_t>(places.size() % 7));
    ucd_type_t wide, irregular;
    ok(ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &wide), "vector");
    ok(ucd_create_indexed_block(few, 1, places.data(), UCD_TYPE__INT, UCD_INFO__NULL, &irregular),
       "indexed_block");
    for (const bool later : {false, true}) {
        for (const bool type_only : {false, true}) {
            INFO("later: " << later << ", type: " << type_only);
            RmaTestOperation put(type_only ? few : ints);
            {
                UcxSends sends;
                (later ? sends.fetched_later : sends.fetched) = UCS_ERR_CONNECTION_RESET;
                ok(put.start(What::put, pair.a, window.key(), 0, type_only ? irregular : wide, 1),
                   "put");
                pair.until([&] { return put.done(); });
                CHECK(sends.fetches > 0);
            }
            CHECK(put.status() == UCS_ERR_IO_ERROR); // not that its type is none
            if (type_only) CHECK(std::count(memory.begin(), memory.end(), 7) == 2 * ints);
            std::fill(memory.begin(), memory.end(), 7);
            RmaTestOperation next(type_only ? few : ints); // the same, which goes well
            ok(next.start(What::put, pair.a, window.key(), 0, type_only ? irregular : wide, 1),
               "put");
            pair.until([&] { return next.done(); });
            CHECK(next.status() == UCS_OK);
            CHECK(std::count(memory.begin(), memory.end(), 1) ==
                  static_cast<std::ptrdiff_t>(next.in.size()));
            std::fill(memory.begin(), memory.end(), 7);
        }
    }
    ok(ucd_free(&wide), "free");
    ok(ucd_free(&irregular), "free");
}

} // namespace rma_sends_test
