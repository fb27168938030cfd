// Messages that UCX does not let be held, and for which there is no memory.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/rma_by_hand.hpp"
#include "ucx/rma_operation.hpp"
#include "ucx/type_name.hpp"

#include <algorithm>
#include <string>

namespace rma_no_memory_test {

using namespace ucdtest;

namespace {

// As UCX delivers it, from the peer of this side, in memory that is gone on return.
void deliver(ucd_ucx::WorkerEngine &engine, ucp_ep_h from, std::string header, std::string data,
             std::size_t failing) {
    ucp_am_recv_param_t param = {};
    param.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP;
    param.reply_ep = from;
    fail_allocation(failing);
    const ucs_status_t status = ucd_ucx::WorkerEngine::on_am(&engine, header.data(), header.size(),
                                                             data.data(), data.size(), &param);
    (void)end_failing();
    CHECK(status == UCS_OK);
}

void deliver(RmaSide &side, const std::string &message, std::size_t failing) {
    deliver(side.rma->engine, side.ep(), {}, message, failing);
}

} // namespace

DEVICE_TEST("a request that there is no memory to keep is done if it is short, else refused") {
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

DEVICE_TEST("of requests in one message that there is no memory to keep, those that fit are done") {
    HandOrigin origin;
    std::string several = wire::preamble(wire::answers, 0);
    origin.request.count = 10;
    for (unsigned number = 1; number <= 2; ++number) {
        origin.request.number = number;
        const std::string one = origin.request.text() + std::string(10, 'd');
        several += std::string{static_cast<char>(one.size()), 0, 0, 0} + one;
    }
    // An answer to nothing, with which its peer gets an account.
    deliver(origin.b, wire::preamble(wire::answer, 77), 0);
    // The third one does not fit the room for such messages.
    several += std::string("\x88\x13\0\0", 4) + std::string(5000, 'x');
    deliver(origin.b, several, 1);
    for (unsigned number = 1; number <= 2; ++number) {
        const wire::Said said = origin.hand.next_said();
        CHECK((said.is_answer() && said.number == number && said.first == wire::done));
    }
    CHECK(std::count(origin.memory.begin(), origin.memory.end(), 'd') == 10);
}

DEVICE_TEST("an operation whose type there is no memory to keep is refused") {
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
    CHECK(ucd_ucx_window_destroy(&origin.window->handle) == UCD_SUCCESS);
}

DEVICE_TEST("an operation whose answer there is no memory to keep ends") {
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

DEVICE_TEST(
    "a user's message that there is no memory to keep is announced, and fails if it is long") {
    TwoSides sides;
    struct Told {
        Side &side;
        std::string header, bytes;
        Outcome o;
    };
    ucd_ucx::MessageHeader h;
    h.kind = ucd_ucx::MessageKind::whole;
    h.id = {77, 0};
    h.user_header = 40;
    h.user_id = 1;
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
        Told told = {sides.b, {}, std::string(bytes, '\0'), {}};
        const auto take = [](void *argument, unsigned, const void *header, size_t length,
                             ucd_ucx_data_t data, uint64_t, ucp_ep_h) {
            auto *t = static_cast<Told *>(argument);
            t->header.assign(static_cast<const char *>(header), length);
            start_receive_active(t->side, data, {t->bytes.data(), t->bytes.size(), UCD_TYPE__CHAR},
                                 t->o);
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

} // namespace rma_no_memory_test
