// Direct transfers: when they are offered and taken, and how they end.

#include "api/object.h"
#include "c_api/allocations.hpp"
#include "support/device_test.hpp"
#include "ucx/direct_pair.hpp"

namespace direct_test {

using namespace ucdtest;

namespace {

constexpr std::size_t large = 1 << 20; // ints: several steps

struct OneTransfer {
    explicit OneTransfer(std::size_t ints) : in(ints), out(ints) {}
    void start(TwoSides &sides, ucp_tag_t tag = 1) {
        REQUIRE(start_receive(sides.b, out, received, tag) == UCD_SUCCESS);
        REQUIRE(start_send(sides.a, in, sent, tag) == UCD_SUCCESS);
    }
    bool done() const { return sent.done() && received.done(); }
    bool arrived() const {
        return sent.result.status == UCS_OK && received.result.status == UCS_OK &&
               out.received_from(in);
    }
    MappableStrided in;
    Strided out;
    Outcome sent, received;
};

// Whether a transfer is offered directly; it arrives in any case.
bool goes_directly(TwoSides &sides) {
    sides.a.events.clear();
    OneTransfer transfer(5000);
    transfer.start(sides);
    sides.until([&] { return transfer.done(); });
    CHECK(transfer.arrived());
    return has_offered_directly(sides.a);
}

} // namespace

DEVICE_TEST("data is read where it is, once the processes know each other") {
    TwoSides sides({ALWAYS_DIRECT});
    CHECK_FALSE(goes_directly(sides)); // it introduces the process
    link_up(sides);
    for (int i = 0; i < 20; ++i) CHECK(goes_directly(sides));
    OneTransfer transfer(large);
    transfer.start(sides);
    sides.until([&] { return transfer.done(); });
    CHECK(transfer.arrived());
    CHECK(has_offered_directly(sides.a));
}

DEVICE_TEST("data is not read unless both sides trust the other") {
    Side a, b;
    const Keys yes({ALWAYS_DIRECT}), no({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}});
    const bool sender_trusts = GENERATE(true, false);
    a.open_pipeline((sender_trusts ? yes : no).get());
    b.open_pipeline((sender_trusts ? no : yes).get());
    a.connect(b.address());
    b.connect(a.address());
    for (int i = 0; i < 50; ++i) {
        MappableStrided in(5000);
        Strided out(5000);
        Outcome sent, received;
        REQUIRE(start_receive(b, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(a, in, sent) == UCD_SUCCESS);
        while (!sent.done() || !received.done()) {
            ucd_ucx_progress(a.pipeline);
            ucd_ucx_progress(b.pipeline);
        }
        CHECK(out.received_from(in));
        CHECK_FALSE(has_offered_directly(a));
    }
}

DEVICE_TEST("transfers of a pipeline that does not trust open no socket") {
    TwoSides sides({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}});
    const Keys yes({{"ucd.ucx.direct", "always"}});
    for (int i = 0; i < 3; ++i) {
        MappableStrided in(5000);
        Strided out(5000);
        Outcome sent, received;
        out.clear();
        start_receive(sides.b, {out.data(), 1, out.type()}, received, 1, yes.get(), 1);
        start_send(sides.a, {in.data(), 1, in.type()}, sent, 1, yes.get());
        sides.until([&] { return sent.done() && received.done(); });
        CHECK(out.received_from(in));
        CHECK_FALSE(has_offered_directly(sides.a));
    }
    CHECK(ucd_ucx::Links::descriptors() == 0);
}

// Its owner's program may be replaced (execve) before it is read, and then it is another's.
DEVICE_TEST("host memory that cannot be mapped is not offered, and opens no socket") {
    TwoSides sides({ALWAYS_DIRECT});
    for (int i = 0; i < 30; ++i) {
        check_usable(sides);
        CHECK_FALSE(has_offered_directly(sides.a));
    }
    CHECK(ucd_ucx::Links::descriptors() == 0);
    link_up(sides);
    check_usable(sides);
    CHECK_FALSE(has_offered_directly(sides.a));
}

DEVICE_TEST("a receive may decline, and then gets the data by messages") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    const Keys no({{"ucd.ucx.direct", "no"}});
    MappableStrided in(5000);
    Strided out(5000);
    Outcome sent, received;
    out.clear();
    start_receive(sides.b, {out.data(), 1, out.type()}, received, 1, no.get());
    REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && received.done(); });
    CHECK(has_offered_directly(sides.a));
    CHECK(out.received_from(in));
    CHECK(goes_directly(sides));
}

DEVICE_TEST("a receiver that remembers no types declines each time") {
    TwoSides sides({ALWAYS_DIRECT, {"ucd.ucx.rma.types", "0"}});
    for (int i = 0; i < 30; ++i) (void)goes_directly(sides);
    CHECK(goes_directly(sides)); // it is offered, and arrives by messages
}

DEVICE_TEST("a type that the receiver has forgotten is sent again") {
    // The receiver remembers one type at a time.
    std::uintptr_t flattened;
    ok(ucd_flatten_size(Strided(5000).type(), &flattened), "flatten");
    const std::uint64_t cost = ucd_ucx::TypesOfTarget::bytes_of_type(flattened) - (64 << 10);
    TwoSides sides({ALWAYS_DIRECT, {"ucd.ucx.rma.types", std::to_string(cost * 3 / 2)}});
    link_up(sides);
    const auto is_read = [&](std::size_t ints) {
        sides.b.events.clear();
        OneTransfer transfer(ints);
        transfer.start(sides);
        sides.until([&] { return transfer.done(); });
        CHECK(transfer.arrived());
        return std::any_of(sides.b.events.begin(), sides.b.events.end(), [&](const auto &e) {
            return e.what == UCD_UCX_EVENT__RECEIVED && e.bytes == transfer.in.bytes();
        });
    };
    CHECK(is_read(5000));
    CHECK(is_read(5000));
    CHECK(is_read(5001));
    CHECK_FALSE(is_read(5000));
    CHECK(is_read(5000));
}

DEVICE_TEST("a direct transfer that is too long for its receive is truncated") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    MappableStrided in(5000);
    Strided out(4999);
    Outcome sent, received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
    sides.until([&] { return sent.done() && received.done(); });
    CHECK(sent.result.status == UCS_OK);
    CHECK(received.result.status == UCS_ERR_MESSAGE_TRUNCATED);
    CHECK(goes_directly(sides));
}

DEVICE_TEST("an active message whose data is dropped completes at its sender") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    Told told(sides.b, true);
    for (int i = 0; i < 10; ++i) {
        MappableStrided in(5000);
        Outcome sent;
        start_active(sides.a, {in.data(), 1, in.type()}, sent, {}, 3);
        sides.until([&] { return sent.done(); });
        CHECK(sent.result.status == UCS_OK);
        CHECK(has_offered_directly(sides.a));
    }
    check_usable(sides);
}

DEVICE_TEST("direct transfers are cancelled at any time, by either side or both") {
    TwoSides sides({ALWAYS_DIRECT});
    link_up(sides);
    run_cases("ucx direct cancel", 200, [&](Case &one) {
        Rng &rng = one.rng();
        MappableStrided in(1 + rng.below(400'000));
        Strided out(in.bytes() / sizeof(int));
        Outcome sent, received;
        const std::size_t receive_at = rng.below(10), cancel_send_at = rng.below(30),
                          cancel_receive_at = rng.below(30);
        ok(start_send(sides.a, in, sent), "send");
        for (std::size_t i = 0; i < 30; ++i) {
            if (i == receive_at) ok(start_receive(sides.b, out, received), "receive");
            if (i == cancel_send_at && sent.request != UCD_UCX_REQUEST__NULL)
                ok(ucd_ucx_cancel(sides.a.pipeline, sent.request), "cancel");
            if (i == cancel_receive_at && received.request != UCD_UCX_REQUEST__NULL)
                ok(ucd_ucx_cancel(sides.b.pipeline, received.request), "cancel");
            sides.progress();
        }
        const bool is_posted = received.request != UCD_UCX_REQUEST__NULL;
        if (!is_posted) ok(start_receive(sides.b, out, received), "receive");
        sides.until([&] { return sent.done() && received.done(); });
        for (const Outcome *o : {&sent, &received})
            if (o->request != UCD_UCX_REQUEST__NULL && o->result.status != UCS_OK &&
                o->result.status != UCS_ERR_CANCELED)
                one.fail("it ended with ", ucs_status_string(o->result.status));
        if (received.result.status == UCS_OK && !out.received_from(in)) one.fail("other bytes");
        // A receive that was cancelled before it matched leaves the message to another.
        if (received.result.status == UCS_ERR_CANCELED) {
            Strided rest(in.bytes() / sizeof(int));
            Outcome last;
            ok(start_receive(sides.b, rest, last), "receive");
            for (int i = 0; i < 100 && !last.done(); ++i) sides.progress();
            if (!last.done()) ok(ucd_ucx_cancel(sides.b.pipeline, last.request), "cancel");
            sides.until([&] { return last.done(); });
        }
    });
    CHECK(goes_directly(sides));
}

DEVICE_TEST("endpoints are lost during direct transfers") {
    run_cases("ucx direct lost", 40, [&](Case &one) {
        Rng &rng = one.rng();
        TwoSides sides({ALWAYS_DIRECT});
        link_up(sides);
        OneTransfer transfer(large);
        transfer.start(sides);
        for (std::size_t i = rng.below(12); i > 0; --i) sides.progress();
        Side &loser = rng.chance(50) ? sides.a : sides.b;
        loser.lose_endpoint();
        // The other side finds out, or is told.
        for (int i = 0; i < 2000 && !transfer.done(); ++i) sides.progress();
        Side &other = &loser == &sides.a ? sides.b : sides.a;
        other.lose_endpoint();
        for (int i = 0; i < 2000 && !transfer.received.done(); ++i) sides.progress();
        if (!transfer.received.done())
            ok(ucd_ucx_cancel(sides.b.pipeline, transfer.received.request), "cancel");
        // What came since then is of a new endpoint, which is lost, too.
        sides.b.lose_endpoint();
        sides.until([&] { return transfer.done(); });
        if (transfer.received.result.status == UCS_OK && !transfer.out.received_from(transfer.in))
            one.fail("other bytes");
    });
}

DEVICE_TEST("direct transfers with too little memory end, whichever allocation fails") {
    for (std::size_t nth = 1, in_a_row = 0; in_a_row < 3; ++nth) {
        TwoSides sides({ALWAYS_DIRECT});
        link_up(sides);
        INFO("allocation " << nth);
        MappableStrided in(5000 + nth); // a new type
        Strided out(5000 + nth);
        Outcome sent, received;
        fail_allocation(nth);
        const int receives = start_receive(sides.b, out, received);
        const int sends = start_send(sides.a, in, sent);
        for (int i = 0; i < 300; ++i) try {
                sides.progress();
            } catch (const std::bad_alloc &) {
            }
        in_a_row = end_failing() ? in_a_row + 1 : 0;
        // What could not be started has not begun: the other side waits for the next one.
        if (sends != UCD_SUCCESS) REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
        if (receives != UCD_SUCCESS) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        sides.until([&] { return sent.done() && received.done(); });
        if (received.result.status == UCS_OK) CHECK(out.received_from(in));
        CHECK(goes_directly(sides));
    }
}

} // namespace direct_test
