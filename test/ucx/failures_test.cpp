// Failures in the middle of something else: a message that is being received, events that wait,
// callbacks of the user. What has failed is not used again.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/strided.hpp"
#include "ucx/ucx_sends.hpp"

#include <string>
#include <vector>

namespace failures_test {

using namespace ucdtest;

namespace {

// A user's message of 4000 bytes whose sender offers all three routes.
struct Offered {
    TwoSides sides{SMALL_CHUNKS};
    Attacker attacker{sides.b.address(), [this] { sides.progress(); }};
    Told told{sides.b};
    wire::Message m = attacker.new_message(wire::user_offer, 4000);

    Offered() {
        m.user_id = 1;
        attacker.active(m);
        m.kind = wire::route;
        for (const unsigned route : {0U, 1U, 2U}) {
            m.status = wire::route_status(route, 7);
            m.user_header.clear();
            if (route == wire::ring_route)
                m.user_header = wire::ring_place(std::string(wire::ring_handle_bytes, 'h'), 0, 0);
            attacker.active_by_rendezvous(m, std::string(8, '\0'));
        }
        REQUIRE(attacker.within(5, [&] { return told.times > 0; }));
        attacker.progress(50);
        m.kind = wire::chunk;
        m.status = 0;
        m.user_header.clear();
    }
};

} // namespace

// A chunk proves that the sender knows the answer, so the offers that were not chosen are fetched.
DEVICE_TEST("a receive fails if UCX does not fetch the offers behind the answer") {
    for (const bool later : {false, true}) {
        Offered o;
        std::vector<char> out(4000);
        Outcome received;
        start_receive_active(o.sides.b, o.told.data, {out.data(), out.size(), UCD_TYPE__BYTE},
                             received);
        o.attacker.progress(50);
        UcxSends sends;
        (later ? sends.fetched_later : sends.fetched) = UCS_ERR_NO_MEMORY;
        for (o.m.offset = 0; o.m.offset < 4000; o.m.offset += 1000)
            o.attacker.active(o.m, std::string(1000, 'd'));
        REQUIRE(o.attacker.within(5, [&] { return received.done(); }));
        CHECK(received.result.status == UCS_ERR_NO_MEMORY);
        CHECK(sends.fetches == (later ? 2U : 1U));
        REQUIRE(o.attacker.within(5, [&] { return o.attacker.unfinished() == 0; }));
        // All of the message has come or was dropped, so nothing of it is left.
        CHECK(o.sides.b.pipeline->engine.ledger.bytes() == 0);
    }
}

} // namespace failures_test
