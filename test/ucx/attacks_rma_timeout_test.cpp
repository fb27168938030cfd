// A target that takes requests and answers none: operations end after ucd.ucx.timeout.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_operation.hpp"

#include <algorithm>

namespace attacks_rma_timeout_test {

using namespace ucdtest;

namespace {

constexpr double long_enough = 8;

ucd_ucx_window_key_t made_up_key() {
    ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
    key.bytes[8] = 1;
    return key;
}

// An origin whose operations may take a second, and its target.
struct SilentTarget {
    const Keys keys{{"ucd.ucx.timeout", "1"}, {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}};
    RmaSide origin{keys.get(), UCS_THREAD_MODE_SINGLE};
    Attacker target{origin.side.address(), [this] { origin.progress(); }};
    const ucd_ucx_window_key_t key = made_up_key();
    SilentTarget() { origin.side.connect(target.side.address()); }
    ~SilentTarget() { origin.close_endpoint(); }
};

} // namespace

DEVICE_TEST("one-sided operations whose target does not answer end in time") {
    for (const std::size_t ints : {std::size_t{4}, std::size_t{2000}}) {
        SilentTarget pair;
        std::vector<std::unique_ptr<RmaTestOperation>> operations;
        for (const What what : every) {
            operations.push_back(std::make_unique<RmaTestOperation>(ints));
            ok(operations.back()->start(what, pair.origin, &pair.key, 0), "an operation");
        }
        Outcome flushed;
        const ucd_ucx_param_t p = flushed.param();
        ok(ucd_ucx_flush_nbx(pair.origin.rma, nullptr, &p, &flushed.request), "flush");
        const auto all_done = [&] {
            return flushed.done() && std::all_of(operations.begin(), operations.end(),
                                                 [](const auto &o) { return o->done(); });
        };
        CHECK_FALSE(pair.target.within(0.5, all_done));
        CHECK(pair.target.within(long_enough, all_done));
        for (const auto &o : operations) {
            CHECK(o->status() == UCS_ERR_TIMED_OUT);
            CHECK(o->o.calls == 1);
            CHECK(o->o.result.bytes == 0);
        }
        CHECK(flushed.result.status == UCS_ERR_TIMED_OUT);
        // The target has taken all data, so UCX holds no buffer.
        CHECK(pair.origin.side.unresponsive.empty());
        // Answers that come too late change nothing.
        std::size_t asked = 0;
        while (pair.target.has_said()) {
            const wire::Said said = pair.target.next_said();
            const bool fetches = said.verb == wire::get || said.verb == wire::get_accumulate;
            pair.target.say(wire::preamble(wire::answer, said.number),
                            std::string(fetches ? ints * sizeof(int) : 0, 'l'));
            ++asked;
        }
        CHECK(asked == operations.size());
        pair.target.progress(50);
        for (const auto &o : operations) {
            CHECK(o->o.calls == 1);
            CHECK(std::count(o->out.begin(), o->out.end(), -1) == static_cast<long>(ints));
        }
        // The origin goes on.
        RmaTestOperation next(4);
        ok(next.start(What::put, pair.origin, &pair.key, 0), "put");
        pair.target.say(wire::preamble(wire::answer, pair.target.next_said().number));
        CHECK(pair.target.within(5, [&] { return next.done(); }));
        CHECK(next.status() == UCS_OK);
    }
}

DEVICE_TEST("the shortest time-out is one") {
    const Keys keys{{"ucd.ucx.timeout", "1.5e-9"}}; // a nanosecond
    SilentTarget pair;
    RmaTestOperation first(4), put(4);
    ok(first.start(What::put, pair.origin, &pair.key, 0), "put"); // connects the workers
    pair.target.say(wire::preamble(wire::answer, pair.target.next_said().number));
    REQUIRE(pair.target.within(5, [&] { return first.done(); }));
    start_put(pair.origin, {put.in.data(), 4, UCD_TYPE__INT}, {&pair.key, 0, 4, UCD_TYPE__INT},
              put.o, keys.get());
    CHECK(pair.target.within(long_enough, [&] { return put.done(); }));
    CHECK(put.status() == UCS_ERR_TIMED_OUT);
    CHECK(pair.target.next_said().verb == wire::put);
}

DEVICE_TEST("an operation times out if its data stops, and not if it takes long") {
    SilentTarget pair;
    for (const bool stops : {false, true}) {
        RmaTestOperation get(1000);
        ok(get.start(What::get, pair.origin, &pair.key, 0), "get");
        wire::Message m;
        m.kind = wire::user_offer;
        m.id = pair.target.new_id();
        m.total = 4000;
        m.user_header = wire::preamble(wire::answer, pair.target.next_said().number);
        pair.target.active(m);
        m.kind = wire::chunk;
        m.user_header.clear();
        for (; m.offset < (stops ? 1000 : m.total); m.offset += 1000) {
            CHECK_FALSE(pair.target.within(0.5, [&] { return get.done(); }));
            pair.target.active(m, std::string(1000, 'd'));
        }
        CHECK(pair.target.within(long_enough, [&] { return get.done(); }));
        CHECK(get.status() == (stops ? UCS_ERR_TIMED_OUT : UCS_OK));
    }
    CHECK(pair.origin.side.unresponsive.empty()); // UCX holds no buffer
}

DEVICE_TEST("a target that does not fetch a put's data is reported to the origin's program") {
    SilentTarget pair;
    pair.target.fetches = false;
    RmaTestOperation put(5000);
    ok(put.start(What::put, pair.origin, &pair.key, 0), "put");
    CHECK(pair.target.within(long_enough, [&] { return !pair.origin.side.unresponsive.empty(); }));
    CHECK_FALSE(put.done());
    for (ucp_ep_h ep : pair.origin.side.unresponsive) CHECK(ep == pair.origin.ep());
    CHECK(pair.target.within(long_enough, [&] {
        pair.target.release_data();
        return put.done();
    }));
    CHECK(put.status() == UCS_ERR_TIMED_OUT);
    CHECK(pair.origin.side.unresponsive.size() == 1);
}

} // namespace attacks_rma_timeout_test
