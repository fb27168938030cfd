// One-sided messages that UCX refuses, or takes its time to send; and what must not be sent.

#include "c_api/allocations.hpp"
#include "rma/one_sided.h"
#include "support/moves/device_moves.hpp"
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

} // namespace

TEST_CASE("an operation whose message UCX does not send ends with its status") {
    const DeviceSession session;
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

TEST_CASE("an operation is lost with its endpoint if it began before, and not if it began later") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    ucd_ucx::rma::OneSided &origin = target.a.rma->one_sided;
    for (const What what : every) {
        INFO("operation " << static_cast<int>(what));
        const std::uint64_t earlier = origin.engine.events.tick();
        RmaTestOperation op(10);
        ok(op.start(what, target.a, &key, 0), "an operation");
        origin.on_endpoint_failed({target.a.ep(), UCS_ERR_CONNECTION_RESET, earlier});
        target.hand.progress(5);
        CHECK_FALSE(op.done());
        const std::uint64_t later = origin.engine.events.tick();
        origin.on_endpoint_failed({target.a.ep(), UCS_ERR_CONNECTION_RESET, later});
        REQUIRE(target.hand.within(5, [&] { return op.done(); }));
        CHECK(op.status() == UCS_ERR_CONNECTION_RESET);
    }
}

TEST_CASE("a request is lost with its endpoint if it came before, and not if it came later") {
    const DeviceSession session;
    HandOrigin by_hand;
    ucd_ucx::rma::OneSided &target = by_hand.b.rma->one_sided;
    const auto deliver = [&](const std::string &message) {
        ucp_am_recv_param_t param = {};
        param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
        param.reply_ep = by_hand.b.ep();
        std::string data = message;
        CHECK(ucd_ucx::Engine::on_am(&target.engine, nullptr, 0, data.data(), data.size(),
                                     &param) == UCS_OK);
        by_hand.hand.progress(5);
    };
    const std::string type = by_hand.request.type;
    by_hand.request.by_name = true;
    by_hand.request.type = name_of(type);
    for (const bool is_lost : {false, true}) {
        INFO("lost: " << is_lost);
        const std::uint64_t earlier = target.engine.events.tick();
        ++by_hand.request.number;
        deliver(by_hand.request.text() + by_hand.data);
        REQUIRE(by_hand.hand.next_said().verb == wire::need_type);
        const std::uint64_t before = is_lost ? target.engine.events.tick() : earlier;
        target.on_endpoint_failed({by_hand.b.ep(), UCS_ERR_CONNECTION_RESET, before});
        if (is_lost) break;
        deliver(wire::preamble(wire::type_message, by_hand.request.number) + type);
        const wire::Said said = by_hand.hand.next_said();
        CHECK((said.is_answer() && said.first == wire::done));
        by_hand.request.type[0] ^= 1; // a type that it does not know
    }
    CHECK(ucd_ucx_window_destroy(&by_hand.window.handle) == UCD_SUCCESS); // nothing waits
}

TEST_CASE("an operation that has failed does not wait for its data") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    UcxSends sends(target.a.ep());
    sends.next = {Fate::held};
    RmaTestOperation get(1000);
    ok(get.start(What::get, target.a, &key, 0), "get");
    wire::Message m;
    m.kind = wire::user_offer;
    m.id = target.hand.new_id();
    m.total = 4000;
    m.user_header = wire::preamble(wire::answer, 0); // the first number
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

TEST_CASE("an operation whose data cannot be packed sends nothing, and nothing waits for it") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    {
        const UcxSends sends(target.a.ep());
        Put bad;
        CHECK(bad.start(target.a, key, 0, nowhere.get()) != UCD_SUCCESS);
        CHECK(bad.o.request == UCD_UCX_REQUEST__NULL);
        CHECK(sends.calls.empty());
    }
    ok(ucd_ucx_rma_fence(target.a.rma, target.a.ep()), "fence");
    Put first, bad[3], last;
    ok(first.start(target.a, key), "put"); // at once: there is nothing before the fence
    const wire::Said said = target.hand.next_said();
    // Behind a fence it fails when its turn has come, and leaves the turn to the next one.
    ok(ucd_ucx_rma_fence(target.a.rma, target.a.ep()), "fence");
    for (Put &b : bad) ok(b.start(target.a, key, 0, nowhere.get()), "put");
    ok(ucd_ucx_rma_fence(target.a.rma, target.a.ep()), "fence");
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

TEST_CASE("fences hold for an endpoint that is used again after it was lost") {
    const DeviceSession session;
    RmaPair pair;
    std::vector<int> memory(10, 7);
    const Window window(pair.b, memory.data(), 40);
    RmaTestOperation before(10), first(10), second(10);
    ok(before.start(What::put, pair.a, window.key(), 0), "put");
    pair.until([&] { return before.done(); });
    ok(ucd_ucx_rma_lose_endpoint(pair.a.rma, pair.a.ep(), UCS_ERR_TIMED_OUT), "lose");
    for (int i = 0; i < 10; ++i) pair.progress();
    {
        const UcxSends sends(pair.a.ep());
        ok(first.start(What::put, pair.a, window.key(), 0), "put");
        ok(ucd_ucx_rma_fence(pair.a.rma, nullptr), "fence");
        ok(second.start(What::put, pair.a, window.key(), 0), "put");
        CHECK(sends.calls.size() == 1);
        pair.until([&] { return first.done() && second.done(); });
    }
    CHECK(first.status() == UCS_OK);
    CHECK(second.status() == UCS_OK);
}

// As UCX may deliver it to a worker that sends to itself.
TEST_CASE("an answer that comes while its operation is being sent waits until that is sent") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put first, held, last;
    ok(first.start(target.a, key), "put");
    const wire::Said said = target.hand.next_said();
    for (Put *put : {&held, &last}) {
        ok(ucd_ucx_rma_fence(target.a.rma, target.a.ep()), "fence");
        ok(put->start(target.a, key), "put");
    }
    {
        UcxSends sends(target.a.ep());
        sends.status = UCS_OK;
        sends.next = {Fate::ended};
        sends.on_call = [&] {
            if (sends.calls.size() > 1) return;
            const auto &operation =
                static_cast<const ucd_ucx::rma::RmaOperation &>(*held.o.request);
            std::string answer = wire::preamble(wire::answer, operation.number);
            ucp_am_recv_param_t param = {};
            param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
            param.reply_ep = target.a.ep();
            CHECK(ucd_ucx::Engine::on_am(&target.a.rma->engine, nullptr, 0, answer.data(),
                                         answer.size(), &param) == UCS_OK);
            CHECK_FALSE(operation.is_complete());
        };
        target.answer(said.number);
        REQUIRE(target.hand.within(5, [&] { return sends.calls.size() == 2; }));
    }
    CHECK(held.o.done());
    target.answer(target.hand.next_said().number);
    REQUIRE(target.hand.within(5, [&] { return last.o.done(); }));
    for (const Put *put : {&first, &held, &last}) CHECK(put->o.result.status == UCS_OK);
}

TEST_CASE("as many operations as one likes fail behind a fence") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put first, last;
    ok(first.start(target.a, key), "put");
    const wire::Said said = target.hand.next_said();
    ok(ucd_ucx_rma_fence(target.a.rma, target.a.ep()), "fence");
    std::vector<Put> bad(3000); // as deep, calls of each other would end the stack
    for (Put &b : bad) ok(b.start(target.a, key, 0, nowhere.get()), "put");
    ok(last.start(target.a, key), "put");
    target.answer(said.number);
    target.answer(target.hand.next_said().number);
    REQUIRE(target.hand.within(10, [&] { return last.o.done(); }));
    for (const Put &b : bad) REQUIRE(b.o.result.status == UCS_ERR_IO_ERROR);
}

TEST_CASE("one-sided operations are not ended under those that are outstanding") {
    const DeviceSession session;
    HandTarget target;
    const ucd_ucx_window_key_t key = made_up_key();
    Put put, held;
    ok(put.start(target.a, key), "put");
    const wire::Said said = target.hand.next_said();
    CHECK(ucd_ucx_rma_destroy(&target.a.rma) == UCD_ERR__INVALID_ARG);
    ok(ucd_ucx_rma_fence(target.a.rma, target.a.ep()), "fence");
    ok(held.start(target.a, key), "put");
    CHECK(ucd_ucx_rma_destroy(&target.a.rma) == UCD_ERR__INVALID_ARG);
    target.answer(said.number);
    const wire::Said next = target.hand.next_said();
    CHECK(ucd_ucx_rma_destroy(&target.a.rma) == UCD_ERR__INVALID_ARG);
    target.answer(next.number);
    REQUIRE(target.hand.within(5, [&] { return held.o.done(); }));
}

TEST_CASE("what waits for an operation is not sent by an endpoint that was lost") {
    const DeviceSession session;
    RmaPair pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}});
    std::vector<char> memory(1000, 'm'), in(1000, 'i');
    const Window window(pair.b, memory.data(), memory.size());
    Outcome one;
    Put behind;
    const ucd_ucx_param_t p = one.param();
    UcxSends sends(pair.a.ep());
    sends.next = {Fate::sent}; // it announces the chunk
    sends.rest = Fate::held;
    ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), in.data(), 1000, UCD_TYPE__CHAR, window.key(), 0,
                       1000, UCD_TYPE__CHAR, &p, &one.request),
       "put");
    pair.until([&] { return sends.held() == 1; });
    ok(ucd_ucx_rma_fence(pair.a.rma, pair.a.ep()), "fence");
    ok(behind.start(pair.a, *window.key()), "put");
    ok(ucd_ucx_rma_lose_endpoint(pair.a.rma, pair.a.ep(), UCS_ERR_TIMED_OUT), "lose");
    sends.end_held(UCS_OK);
    sends.rest = Fate::sent;
    sends.calls.clear();
    for (int i = 0; i < 20; ++i) pair.progress();
    REQUIRE((one.done() && behind.o.done()));
    CHECK(one.result.status == UCS_ERR_TIMED_OUT);
    CHECK(behind.o.result.status == UCS_ERR_TIMED_OUT);
    CHECK(sends.calls.empty());
    CHECK(std::count(memory.begin(), memory.end(), 'm') == 1000);
    ok(ucd_ucx_rma_lose_endpoint(pair.b.rma, pair.b.ep(), UCS_ERR_TIMED_OUT), "lose");
    for (int i = 0; i < 20; ++i) pair.progress();
}

// Answers ---------------------------------------------------------------------

namespace {

// Requests by hand whose answers UCX holds.
struct HeldAnswers {
    const Keys keys{{"ucd.ucx.peer_memory", "1048576"}};
    RmaSide b{keys.get(), UCS_THREAD_MODE_SINGLE};
    Attacker hand{b.side.address(), [this] { b.progress(); }};
    std::vector<char> memory = std::vector<char>(100, 'm');
    Window window{b, memory.data(), memory.size()};
    wire::Request request;
    std::string data;

    HeldAnswers() {
        b.side.connect(hand.side.address());
        request.window = wire::window_name(*window.key());
        request.type = flattened(UCD_TYPE__CHAR);
        request.count = 50;
        request.verb = wire::get;
    }
    ~HeldAnswers() { b.close_endpoint(); }
    void ask() {
        ++request.number;
        hand.say(request.text() + data);
        hand.progress(2);
    }
};

} // namespace

TEST_CASE("answers that UCX has are charged to whom they are for, until they are sent") {
    const DeviceSession session;
    HeldAnswers target;
    UcxSends sends(target.b.ep());
    sends.rest = Fate::held;
    // Answers with data have half of the account, which is about 240: two thirds of that, again and
    // again.
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 160; ++i) target.ask();
        CHECK(sends.held() == 160);
        sends.end_held(UCS_OK);
        target.hand.progress(2);
    }
    for (int i = 0; i < 320; ++i) target.ask();
    const std::size_t first = sends.held();
    CHECK((first >= 200 && first <= 250));
    // The others have waited.
    sends.end_held(UCS_OK);
    target.hand.progress(2);
    CHECK(sends.held() == 320 - first);
    sends.end_held(UCS_OK);
    target.hand.progress(2);
    // Whoever goes on without taking answers, which also tell of refusals, gets no more of them.
    for (int i = 0; i < 2000; ++i) target.ask();
    CHECK((sends.held() >= 300 && sends.held() <= 500));
    sends.end_held(UCS_OK);
    target.hand.progress(2);
    CHECK(target.memory == std::vector<char>(100, 'm'));
}

TEST_CASE("an answer for which there is no memory is said again, unless its endpoint was lost") {
    const DeviceSession session;
    for (const auto &[lost, puts] :
         {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
        INFO("lost: " << lost << ", put: " << puts);
        HeldAnswers target;
        if (puts) target.request.verb = wire::put;
        if (puts) target.data.assign(50, 'd');
        UcxSends sends(target.b.ep());
        sends.rest = Fate::ended;
        sends.status = UCS_ERR_NO_MEMORY;
        target.ask();
        target.hand.progress(5);
        CHECK(sends.calls.size() >= 2);
        CHECK_FALSE(target.hand.has_said());
        sends.rest = Fate::sent;
        if (lost) {
            sends.calls.clear();
            ok(ucd_ucx_rma_lose_endpoint(target.b.rma, target.b.ep(), UCS_ERR_TIMED_OUT), "lose");
            target.hand.progress(20);
            CHECK(sends.calls.empty());
            CHECK_FALSE(target.hand.has_said());
        } else {
            const wire::Said said = target.hand.next_said();
            CHECK((said.is_answer() && said.number == target.request.number));
            target.hand.progress(20);
            CHECK_FALSE(target.hand.has_said());
        }
    }
}

TEST_CASE("an operation that ends after its endpoint was lost is not answered") {
    const DeviceSession session;
    HandOrigin origin;
    UcxSends sends;
    wire::Message m;
    m.kind = wire::user_offer;
    m.id = origin.hand.new_id();
    m.total = 50;
    m.user_header = origin.request.text();
    origin.hand.active(m);
    origin.hand.progress(20); // its chunk is awaited
    origin.paused = true;
    ok(ucd_ucx_rma_lose_endpoint(origin.b.rma, origin.b.ep(), UCS_ERR_TIMED_OUT), "lose");
    sends.calls.clear();
    for (int i = 0; i < 20; ++i) origin.b.progress();
    CHECK(sends.calls.empty());
    origin.paused = false;
    origin.hand.progress(20);
    CHECK_FALSE(origin.hand.has_said());
    CHECK(origin.is_untouched());
    REQUIRE(ucd_ucx_window_destroy(&origin.window.handle) == UCD_SUCCESS); // nothing uses it
}

TEST_CASE("a type that comes twice is taken once") {
    const DeviceSession session;
    HandOrigin origin;
    const std::string flat = origin.request.type;
    origin.request.by_name = true;
    origin.request.type = name_of(flat);
    origin.hand.say(origin.request.text(), origin.data);
    REQUIRE(origin.hand.next_said().verb == wire::need_type);
    // It comes in chunks, and before those are here, again.
    wire::Message m;
    m.kind = wire::user_offer;
    m.id = origin.hand.new_id();
    m.total = flat.size();
    m.user_header = wire::preamble(wire::type_message, origin.request.number);
    origin.hand.active(m);
    origin.hand.progress(20);
    origin.hand.say(wire::preamble(wire::type_message, origin.request.number), flat);
    origin.hand.progress(20);
    CHECK_FALSE(origin.hand.has_said());
    CHECK(origin.is_untouched());
    m.kind = wire::chunk;
    m.user_header.clear();
    origin.hand.active(m, flat);
    const wire::Said said = origin.hand.next_said();
    CHECK((said.is_answer() && said.number == origin.request.number));
    CHECK(said.first == wire::done);
    origin.hand.progress(20);
    CHECK_FALSE(origin.hand.has_said());
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 50);
}

TEST_CASE("answers in chunks leave nothing behind") {
    const DeviceSession session;
    RmaPair pair(small_chunks);
    std::vector<int> memory(1000, 7);
    const Window window(pair.b, memory.data(), 4000);
    std::ptrdiff_t live = 0;
    for (int round = 0; round < 20; ++round) {
        if (round == 10) live = live_allocations();
        RmaTestOperation get(1000);
        ok(get.start(What::get, pair.a, window.key(), 0), "get");
        pair.until([&] { return get.done(); });
        CHECK(get.out == memory);
        for (int i = 0; i < 20; ++i) pair.progress(); // the target learns of it
    }
    CHECK(live_allocations() <= live + 5);
}

TEST_CASE("an origin asks for as many bytes as there can be, and not more") {
    const DeviceSession session;
    RmaPair pair;
    std::vector<char> memory(100, 'm');
    const Window window(pair.b, memory.data(), memory.size());
    for (const std::size_t count : {std::size_t{INTPTR_MAX}, std::size_t{INTPTR_MAX} + 1}) {
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        const int rc =
            ucd_ucx_get_nbx(pair.a.rma, pair.a.ep(), memory.data(), count, UCD_TYPE__CHAR,
                            window.key(), 0, count, UCD_TYPE__CHAR, &p, &o.request);
        CHECK(rc == (count > INTPTR_MAX ? UCD_ERR__OVERFLOW : UCD_SUCCESS));
        if (rc != UCD_SUCCESS) continue;
        pair.until([&] { return o.done(); });
        CHECK(o.result.status == UCS_ERR_OUT_OF_RANGE);
    }
    CHECK(memory == std::vector<char>(100, 'm'));
}

TEST_CASE("what is put and got is as its type says, in one segment or not, wherever it is") {
    const DeviceSession session;
    RmaPair pair;
    ucd_type_t one, apart; // four ints in a row; and ints with as much room behind each
    ok(ucd_create_contig(4, UCD_TYPE__INT, UCD_INFO__NULL, &one), "contig");
    ok(ucd_create_resized(UCD_TYPE__INT, 0, 8, UCD_INFO__NULL, &apart), "resized");
    void *device = mock::allocate(ucd::MemoryKind::device, 0, 32);
    const std::vector<int> values = {1, 2, 3, 4, 5, 6, 7, 8};
    mock::write(device, values.data(), 32);
    for (const bool on_device : {false, true}) {
        for (const bool in_a_row : {false, true}) {
            INFO("device: " << on_device << ", in a row: " << in_a_row);
            std::vector<int> memory(8, 0), host = values, back(8, 0);
            const Window window(pair.b, memory.data(), 32);
            const std::size_t count = in_a_row ? 1 : 4;
            ucd_type_t type = in_a_row ? one : apart;
            Outcome put, get;
            const ucd_ucx_param_t p = put.param(), q = get.param();
            ok(ucd_ucx_put_nbx(pair.a.rma, pair.a.ep(), on_device ? device : host.data(), count,
                               type, window.key(), 0, count, type, &p, &put.request),
               "put");
            pair.until([&] { return put.done(); });
            CHECK(memory == (in_a_row ? std::vector<int>{1, 2, 3, 4, 0, 0, 0, 0}
                                      : std::vector<int>{1, 0, 3, 0, 5, 0, 7, 0}));
            const std::vector<int> nines(8, 9);
            if (on_device) mock::write(device, nines.data(), 32);
            back = nines;
            ok(ucd_ucx_get_nbx(pair.a.rma, pair.a.ep(), on_device ? device : back.data(), count,
                               type, window.key(), 0, count, type, &q, &get.request),
               "get");
            pair.until([&] { return get.done(); });
            if (on_device) mock::read(back.data(), device, 32);
            CHECK(back == (in_a_row ? std::vector<int>{1, 2, 3, 4, 9, 9, 9, 9}
                                    : std::vector<int>{1, 9, 3, 9, 5, 9, 7, 9}));
            if (on_device) mock::write(device, values.data(), 32);
        }
    }
    mock::release(device);
    for (ucd_type_t *type : {&one, &apart}) ok(ucd_free(type), "free");
}

} // namespace rma_sends_test
