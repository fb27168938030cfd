// Answers to one-sided requests that UCX holds, or for which there is no memory.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/type_name.hpp"
#include "ucx/ucx_sends.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rma_held_answers_test {

using namespace ucdtest;
using Fate = UcxSends::Fate;

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

DEVICE_TEST("answers that UCX has are charged to whom they are for, until they are sent") {
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

DEVICE_TEST("an answer for which there is no memory is said again, unless its endpoint was lost") {
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
            ok(ucd_ucx_lose_endpoint(target.b.rma, target.b.ep(), UCS_ERR_TIMED_OUT), "lose");
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

DEVICE_TEST("an operation that ends after its endpoint was lost is not answered") {
    HandOrigin origin;
    UcxSends sends;
    wire::Message m = origin.hand.new_message(wire::user_offer, 50);
    m.user_header = origin.request.text();
    origin.hand.active(m);
    origin.hand.progress(20); // its chunk is awaited
    origin.paused = true;
    ok(ucd_ucx_lose_endpoint(origin.b.rma, origin.b.ep(), UCS_ERR_TIMED_OUT), "lose");
    sends.calls.clear();
    for (int i = 0; i < 20; ++i) origin.b.progress();
    CHECK(sends.calls.empty());
    origin.paused = false;
    origin.hand.progress(20);
    CHECK_FALSE(origin.hand.has_said());
    CHECK(origin.is_untouched());
    REQUIRE(ucd_ucx_window_destroy(&origin.window->handle) == UCD_SUCCESS); // nothing uses it
}

DEVICE_TEST("a type that comes twice is taken once") {
    HandOrigin origin;
    const std::string flat = origin.request.type;
    origin.request.by_name = true;
    origin.request.type = name_of(flat);
    origin.hand.say(origin.request.text(), origin.data);
    REQUIRE(origin.hand.next_said().verb == wire::need_type);
    // It comes in chunks, and before those are here, again.
    wire::Message m = origin.hand.new_message(wire::user_offer, flat.size());
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

DEVICE_TEST("answers in chunks leave nothing behind") {
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

DEVICE_TEST("an origin asks for as many bytes as there can be, and not more") {
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

DEVICE_TEST("what is put and got is as its type says, in one segment or not, wherever it is") {
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
            start_put(pair.a, {on_device ? device : host.data(), count, type},
                      {window.key(), 0, count, type}, put);
            pair.until([&] { return put.done(); });
            CHECK(memory == (in_a_row ? std::vector<int>{1, 2, 3, 4, 0, 0, 0, 0}
                                      : std::vector<int>{1, 0, 3, 0, 5, 0, 7, 0}));
            const std::vector<int> nines(8, 9);
            if (on_device) mock::write(device, nines.data(), 32);
            back = nines;
            start_get(pair.a, {on_device ? device : back.data(), count, type},
                      {window.key(), 0, count, type}, get);
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

} // namespace rma_held_answers_test
