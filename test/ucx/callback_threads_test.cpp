// Threads that make progress with one object while another one is in a callback, or cancels.

#include "api/object.h"
#include "support/device_test.hpp"
#include "ucx/deadline.hpp"
#include "ucx/strided.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace callback_threads_test {

using namespace ucdtest;

namespace {

// A receiver whose handler drops the first message, and returns when it is told to.
struct BusyHandler {
    TwoSides sides{{}, UCS_THREAD_MODE_MULTI};
    std::atomic<bool> is_inside = false, may_return = false;
    std::atomic<int> inside = 0, most = 0;
    bool header_stays = true;
    std::vector<unsigned> order;
    std::vector<ucp_ep_h> reply_eps;
    char byte = 'b';
    std::vector<std::unique_ptr<Outcome>> sent;
    std::thread thread;

    void start() {
        ok(ucd_ucx_am_set_handler(sides.b.pipeline, handle, this), "ucd_ucx_am_set_handler");
        send(1);
        thread = std::thread([this] {
            while (!may_return) ucd_ucx_progress(sides.b.pipeline);
        });
        wait([this] { return is_inside.load(); });
        // The first message is over, and the others come, for which memory is taken.
        for (int i = 0; i < 10; ++i) ucd_ucx_progress(sides.b.pipeline);
        for (const unsigned id : {2U, 3U, 4U}) send(id);
        for (int i = 0; i < 200; ++i) {
            ucd_ucx_progress(sides.a.pipeline);
            moved = ucd_ucx_progress(sides.b.pipeline);
        }
    }
    ~BusyHandler() { let_return(); }
    void let_return() {
        may_return = true;
        if (thread.joinable()) thread.join();
    }
    void send(unsigned id) {
        start_active(sides.a, {&byte, 1, UCD_TYPE__BYTE},
                     *sent.emplace_back(std::make_unique<Outcome>()), header_of(id), id);
    }
    static std::string header_of(unsigned id) {
        return std::string(200, static_cast<char>('a' + id));
    }
    template <class Condition>
    void wait(Condition &&condition) {
        Deadline limit(30);
        while (!condition()) {
            ucd_ucx_progress(sides.a.pipeline);
            REQUIRE_FALSE(limit.has_passed());
        }
    }
    static void handle(void *arg, unsigned id, const void *header, size_t length,
                       ucd_ucx_data_t data, uint64_t, ucp_ep_h reply_ep) {
        auto &self = *static_cast<BusyHandler *>(arg);
        const int now = ++self.inside;
        if (now > self.most) self.most = now;
        if (now == 1) self.order.push_back(id);
        if (now == 1) self.reply_eps.push_back(reply_ep);
        (void)ucd_ucx_am_drop(self.sides.b.pipeline, data);
        if (id == 1) {
            self.is_inside = true;
            while (!self.may_return) std::this_thread::yield();
        }
        const std::string text(static_cast<const char *>(header), length);
        self.header_stays &= text == header_of(id);
        --self.inside;
    }
    unsigned moved = 0; // what progress says beside the handler
};

} // namespace

DEVICE_TEST("callbacks wait while another of the threads is in one, and keep their order") {
    BusyHandler busy;
    busy.start();
    CHECK(busy.moved > 0); // there is more to do
    busy.let_return();
    busy.sides.until([&] { return busy.order.size() == 4 || busy.most > 1; });
    CHECK(busy.most == 1);
    CHECK(busy.order == std::vector<unsigned>{1, 2, 3, 4});
    CHECK(busy.header_stays);
    busy.sides.until([&] { return busy.sent.back()->done(); });
    for (int i = 0; i < 10; ++i) busy.sides.progress();
    CHECK(busy.sides.b.pipeline->engine.ledger.bytes() == 0);
}

DEVICE_TEST("messages that wait for a handler in another of the threads are dropped without one") {
    for (const bool ends : {false, true}) {
        BusyHandler busy;
        busy.start();
        ok(ucd_ucx_am_set_handler(busy.sides.b.pipeline, nullptr, nullptr), "set_handler");
        busy.let_return();
        if (ends) {
            REQUIRE(ucd_ucx_destroy(&busy.sides.b.pipeline) == UCD_SUCCESS);
        } else {
            for (int i = 0; i < 10; ++i) busy.sides.progress();
            CHECK(busy.sides.b.pipeline->engine.ledger.bytes() == 0);
        }
        CHECK(busy.order == std::vector<unsigned>{1});
    }
}

// The program closes an endpoint that it has lost; of a barred one it has to be told, to lose it.
DEVICE_TEST("messages that wait for a handler have no endpoint to reply to if it was lost") {
    for (const bool lost : {true, false}) {
        INFO("lost: " << lost);
        BusyHandler busy;
        busy.start();
        REQUIRE(busy.reply_eps.size() == 1);
        Side &side = busy.sides.b;
        const ucp_ep_h from = busy.reply_eps[0];
        ucd_ucx::Ledger &ledger = side.pipeline->engine.ledger;
        if (lost)
            side.lose_endpoint(from);
        else
            CHECK_FALSE(ledger.take(from, 1 << 30, ucd_ucx::LedgerUse::message));
        for (int i = 0; i < 10; ++i) busy.sides.progress();
        CHECK(ledger.barred() == (lost ? 0U : 1U));
        busy.let_return();
        busy.sides.until([&] { return busy.order.size() == 4; });
        const ucp_ep_h later = lost ? nullptr : from;
        CHECK(busy.reply_eps == std::vector<ucp_ep_h>{from, later, later, later});
    }
}

// UCX does not cancel a receive of which a part has come.
DEVICE_TEST("a receive is cancelled whose data comes while the call waits for other threads") {
    TwoSides sides({{"ucd.ucx.eager", "1000000000"}}, UCS_THREAD_MODE_MULTI);
    Strided in(8 << 20), out(8 << 20);
    Outcome sent, received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
    ucd_ucx::WorkerEngine &engine = sides.b.pipeline->engine;
    std::thread thread;
    {
        // As a thread does that makes progress.
        std::unique_lock progress(engine.progress_lock(), std::try_to_lock);
        REQUIRE(progress.owns_lock());
        std::atomic<bool> begins = false;
        thread = std::thread([&] {
            begins = true;
            (void)ucd_ucx_cancel(sides.b.pipeline, received.request);
        });
        // The call has the engine's lock while it waits.
        while (!begins) std::this_thread::yield();
        while (engine.lock.try_lock()) {
            engine.lock.unlock();
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        Deadline limit(30);
        while (*out.data() == 0 && !limit.has_passed()) {
            ucd_ucx_progress(sides.a.pipeline);
            ucp_worker_progress(sides.b.worker);
        }
    }
    thread.join();
    CHECK(*out.data() != 0);
    // The rest of the message has not come.
    for (int i = 0; i < 10; ++i) ucd_ucx_progress(sides.b.pipeline);
    CHECK(received.done());
    sides.until([&] { return received.done() && sent.done(); });
    CHECK(received.result.status == UCS_ERR_CANCELED);
    check_usable(sides);
}

} // namespace callback_threads_test
