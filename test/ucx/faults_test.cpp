// What goes wrong: each ends in an error, nothing hangs (every wait has a limit), nothing leaks
// (the end of a Side sees to that), and the workers go on.

#include "message.h"
#include "support/catch.hpp"
#include "support/mock_buffer.hpp"
#include "ucx/pair.hpp"

#include <algorithm>
#include <cstring>

using namespace ucdtest;
using ucd_ucx::Header;
using ucd_ucx::Kind;

namespace {

// Every other int, so that chunks are packed and unpacked.
class Strided {
public:
    explicit Strided(std::size_t ints)
        : memory_(2 * ints), type_(make(static_cast<std::intptr_t>(ints))) {
        for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<int>(i + 1);
    }
    ~Strided() { (void)ucd_free(&type_); }
    void clear() { std::fill(memory_.begin(), memory_.end(), 0); }
    int *data() { return memory_.data(); }
    ucd_type_t type() const { return type_; }
    std::size_t bytes() const { return memory_.size() / 2 * sizeof(int); }
    // What a receive from another one leaves; the gaps are as clear() made them.
    bool received_from(const Strided &other) const {
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if (memory_[i] != (i % 2 == 0 ? other.memory_[i] : 0)) return false;
        return true;
    }
    bool is_clear() const {
        return std::all_of(memory_.begin(), memory_.end(), [](int i) { return i == 0; });
    }

private:
    static ucd_type_t make(std::intptr_t ints) {
        ucd_type_t type;
        if (ucd_create_vector(ints, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) != UCD_SUCCESS)
            throw std::runtime_error(ucd_last_error());
        return type;
    }
    std::vector<int> memory_;
    ucd_type_t type_;
};

int start_send(Side &side, Strided &what, Outcome &o, ucp_tag_t tag = 1) {
    const ucd_ucx_param_t p = o.param();
    const int rc =
        ucd_ucx_send_nbx(side.pipeline, side.ep, what.data(), 1, what.type(), tag, &p, &o.request);
    if (rc == UCD_SUCCESS) o.started();
    return rc;
}

int start_receive(Side &side, Strided &what, Outcome &o, ucp_tag_t tag = 1) {
    what.clear();
    const ucd_ucx_param_t p = o.param();
    return ucd_ucx_recv_nbx(side.pipeline, what.data(), 1, what.type(), tag, UINT64_MAX, &p,
                            &o.request);
}

// A whole transfer each way.
void check_usable(TwoSides &sides) {
    for (auto [from, to] : {std::pair(&sides.a, &sides.b), std::pair(&sides.b, &sides.a)}) {
        Strided in(5000), out(5000);
        Outcome sent, received;
        REQUIRE(start_receive(*to, out, received, 99) == UCD_SUCCESS);
        REQUIRE(start_send(*from, in, sent, 99) == UCD_SUCCESS);
        sides.until([&] { return sent.done() && received.done(); });
        CHECK(received.result.status == UCS_OK);
        CHECK(out.received_from(in));
    }
}

#define SMALL_CHUNKS                                                                               \
    {                                                                                              \
        {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "1000"}, {                                      \
            "ucd.ucx.depth", "3"                                                                   \
        }                                                                                          \
    }

// What a sender says, said by hand.
class ByHand {
public:
    explicit ByHand(TwoSides &sides) : sides_(sides) {}

    void tagged(const void *bytes, std::size_t count) {
        ucp_request_param_t p = {};
        wait(ucp_tag_send_nbx(sides_.a.ep, bytes, count, 1, &p));
    }
    void active(const Header &header, const void *bytes, std::size_t count) {
        ucp_request_param_t p = {};
        p.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        p.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
        wait(ucp_am_send_nbx(sides_.a.ep, am_id, &header, sizeof header, bytes, count, &p));
    }

private:
    void wait(ucs_status_ptr_t request) {
        REQUIRE(!UCS_PTR_IS_ERR(request));
        if (request == nullptr) return;
        sides_.until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
        ucp_request_free(request);
    }
    TwoSides &sides_;
};

} // namespace

TEST_CASE("chunks come in any order, before and after the message is matched") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    ByHand hand(sides);
    run_cases("ucx order", 100, [&](Case &one) {
        Strided in(3000), out(3000);
        std::vector<char> stream(in.bytes());
        std::uintptr_t packed;
        one.succeed(ucd_pack(in.data(), 1, in.type(), 0, stream.data(), stream.size(), &packed,
                             UCD_INFO__NULL, UCD_OP__REPLACE),
                    "ucd_pack");
        Header header;
        header.id = {one.rng().bits(), 1};
        header.total = stream.size();
        // The opening somewhere among them; lengths of any kind.
        std::vector<std::pair<std::size_t, std::size_t>> parts = {{0, 0}};
        for (std::size_t at = 0; at < stream.size();) {
            const std::size_t n = std::min(1 + one.rng().below(3000), stream.size() - at);
            parts.emplace_back(at, n);
            at += n;
        }
        one.rng().shuffle(parts);
        Outcome received;
        const bool early = one.rng().chance(50);
        if (early) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        for (const auto &[at, n] : parts) {
            header.kind = n == 0 ? Kind::opening : Kind::chunk;
            header.offset = at;
            if (n == 0)
                hand.tagged(&header, sizeof header);
            else
                hand.active(header, stream.data() + at, n);
        }
        if (!early) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        sides.until([&] { return received.done(); });
        if (received.result.status != UCS_OK) one.fail(ucs_status_string(received.result.status));
        if (!out.received_from(in)) one.fail("other bytes were received");
    });
    check_usable(sides);
}

TEST_CASE("what no pipeline sent is refused") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    ByHand hand(sides);
    std::vector<char> bytes(4000, 'b');
    Strided out(1000);
    const auto receive_after = [&](auto &&send) {
        Outcome received;
        REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
        send();
        sides.until([&] { return received.done(); });
        CHECK(received.result.status == UCS_ERR_INVALID_PARAM);
        CHECK(out.is_clear());
    };
    receive_after([&] { hand.tagged(bytes.data(), 20); });
    receive_after([&] { hand.tagged(bytes.data(), sizeof(Header)); });
    Header header;
    header.total = 4000;
    header.id = {77, 1};
    receive_after([&] {
        header.kind = Kind::chunk; // is no opening
        hand.tagged(&header, sizeof header);
    });
    receive_after([&] {
        header.kind = Kind::whole; // and 4000 bytes
        hand.tagged(&header, sizeof header);
    });
    // Chunks that reach beyond the message.
    for (const auto &[offset, count] : {std::pair<std::uint64_t, std::size_t>(3999, 2),
                                        {4001, 1},
                                        {UINT64_MAX, 2},
                                        {UINT64_MAX - 1, 1000}}) {
        ++header.id.number;
        receive_after([&] {
            header.kind = Kind::opening;
            hand.tagged(&header, sizeof header);
            header.kind = Kind::chunk;
            header.offset = offset;
            hand.active(header, bytes.data(), count);
            header.kind = Kind::withdraw; // so that nothing is kept of it
            hand.active(header, nullptr, 0);
        });
    }
    // Active messages that are none of ours leave no trace.
    header.magic = 0;
    hand.active(header, bytes.data(), 100);
    header = Header();
    header.user_header = 1000;
    hand.active(header, bytes.data(), 100);
    header = Header();
    header.kind = Kind::withdraw;
    hand.active(header, nullptr, 0);
    check_usable(sides);
}

TEST_CASE("a receive that is too short is truncated, and the sender does not notice") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    for (const std::size_t ints : {std::size_t{4}, std::size_t{5000}}) {
        for (const bool early : {true, false}) {
            Strided in(ints), out(ints - 1);
            Outcome sent, received;
            if (early) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
            REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
            for (int i = 0; i < 5; ++i) sides.progress();
            if (!early) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
            sides.until([&] { return sent.done() && received.done(); });
            CHECK(sent.result.status == UCS_OK);
            CHECK(received.result.status == UCS_ERR_MESSAGE_TRUNCATED);
            check_usable(sides);
        }
    }
}

TEST_CASE("a receive that nothing came for is cancelled") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    Strided out(1000);
    Outcome received;
    REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
    CHECK(ucd_ucx_pipeline_destroy(&sides.b.pipeline) == UCD_ERR__INVALID_ARG);
    REQUIRE(ucd_ucx_cancel(sides.b.pipeline, received.request) == UCD_SUCCESS);
    sides.until([&] { return received.done(); });
    CHECK(received.result.status == UCS_ERR_CANCELED);
    CHECK(out.is_clear());
    check_usable(sides);
}

TEST_CASE("transfers are cancelled at any time, by either side or both") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    std::size_t cancelled = 0;
    run_cases("ucx cancel", 300, [&](Case &one) {
        Rng &rng = one.rng();
        Strided in(1 + rng.below(20000)), out(in.bytes() / sizeof(int));
        Outcome sent, received;
        const std::size_t receive_at = rng.below(10), cancel_send_at = rng.below(60),
                          cancel_receive_at = rng.below(60);
        if (start_send(sides.a, in, sent) != UCD_SUCCESS) one.fail(ucd_ucx_last_error());
        for (std::size_t step = 0; step < 60; ++step) {
            if (step == receive_at) REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
            if (step == cancel_send_at && sent.request != nullptr)
                REQUIRE(ucd_ucx_cancel(sides.a.pipeline, sent.request) == UCD_SUCCESS);
            if (step == cancel_receive_at && received.request != nullptr)
                REQUIRE(ucd_ucx_cancel(sides.b.pipeline, received.request) == UCD_SUCCESS);
            sides.progress();
        }
        sides.until([&] { return sent.done() && received.done(); });
        const auto good = [](ucs_status_t s) { return s == UCS_OK || s == UCS_ERR_CANCELED; };
        if (!good(sent.result.status) || !good(received.result.status))
            one.fail(ucs_status_string(sent.result.status), ", ",
                     ucs_status_string(received.result.status));
        cancelled += received.result.status == UCS_ERR_CANCELED;
        if (received.result.status == UCS_OK && !out.received_from(in))
            one.fail("other bytes were received");
        // A receive that was cancelled before its message came leaves that to the next one.
        if (received.result.status == UCS_ERR_CANCELED) {
            Outcome rest;
            if (start_receive(sides.b, out, rest) != UCD_SUCCESS) one.fail(ucd_ucx_last_error());
            for (int i = 0; i < 10; ++i) sides.progress();
            REQUIRE(ucd_ucx_cancel(sides.b.pipeline, rest.request) == UCD_SUCCESS);
            sides.until([&] { return rest.done(); });
        }
    });
    CHECK(cancelled > 0);
    check_usable(sides);
}

TEST_CASE("an endpoint is closed under a transfer") {
    const MockSession session;
    for (const int steps : {0, 1, 3, 10, 30}) {
        for (const bool sender_closes : {true, false}) {
            TwoSides sides(SMALL_CHUNKS);
            if (!sides.a.can_fail || !sides.b.can_fail) return; // nobody would tell the other side
            check_usable(sides);
            Strided in(200000), out(200000);
            Outcome sent, received;
            REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
            REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
            for (int i = 0; i < steps; ++i) sides.progress();
            REQUIRE(!received.done());
            (sender_closes ? sides.a : sides.b).close_endpoint();
            for (int i = 0; i < 2000 && !(sent.done() && received.done()); ++i) sides.progress();
            // UCX does not always tell the other side, which may have to do the same.
            (sender_closes ? sides.b : sides.a).close_endpoint();
            sides.until([&] { return sent.done(); });
            CHECK(sent.result.status != UCS_OK);
            for (int i = 0; i < 100 && !received.done(); ++i) sides.progress();
            // A receive that does not know yet that its message is on its way is the user's.
            if (!received.done())
                REQUIRE(ucd_ucx_cancel(sides.b.pipeline, received.request) == UCD_SUCCESS);
            sides.until([&] { return received.done(); });
            CHECK(received.result.status != UCS_OK);
            // The workers are as good as new with new endpoints.
            sides.a.close_endpoint();
            sides.b.close_endpoint();
            for (int i = 0; i < 100; ++i) sides.progress();
            sides.a.connect(sides.b.address());
            sides.b.connect(sides.a.address());
            check_usable(sides);
        }
    }
}

TEST_CASE("there is no memory for chunks") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    Strided in(5000), out(5000);
    {
        Outcome sent;
        sides.a.memory.until_failure = 0;
        CHECK(start_send(sides.a, in, sent) == UCD_ERR__OUT_OF_MEM);
        CHECK(sent.request == UCD_UCX_REQUEST__NULL);
        sides.a.memory.until_failure = -1;
    }
    check_usable(sides);
    // With one chunk it goes on; the window is narrower than it might be.
    TwoSides fresh(SMALL_CHUNKS);
    {
        Outcome sent, received;
        fresh.a.memory.until_failure = 1;
        fresh.b.memory.until_failure = 1;
        REQUIRE(start_receive(fresh.b, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(fresh.a, in, sent) == UCD_SUCCESS);
        fresh.until([&] { return sent.done() && received.done(); });
        CHECK(received.result.status == UCS_OK);
        CHECK(out.received_from(in));
        CHECK(fresh.a.memory.most == 1);
        CHECK(fresh.b.memory.most == 1);
    }
    // The receiver has none at all.
    TwoSides poor(SMALL_CHUNKS);
    {
        Outcome sent, received;
        poor.b.memory.until_failure = 0;
        REQUIRE(start_receive(poor.b, out, received) == UCD_SUCCESS);
        REQUIRE(start_send(poor.a, in, sent) == UCD_SUCCESS);
        poor.until([&] { return sent.done() && received.done(); });
        CHECK(received.result.status == UCS_ERR_NO_MEMORY);
        CHECK(received.result.ucd == UCD_ERR__OUT_OF_MEM);
        CHECK(sent.result.status == UCS_OK);
        poor.b.memory.until_failure = -1;
    }
    check_usable(poor);
}

TEST_CASE("chunk memory stays within its limit, but for a chunk for each transfer") {
    const MockSession session;
    TwoSides sides(
        {{"ucd.ucx.chunk", "1000"}, {"ucd.ucx.eager", "64"}, {"ucd.ucx.staging", "5000"}});
    std::vector<std::unique_ptr<Strided>> in, out;
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (std::size_t i = 0; i < 10; ++i) {
        in.push_back(std::make_unique<Strided>(5000));
        REQUIRE(start_send(sides.a, *in.back(), *outcomes.emplace_back(std::make_unique<Outcome>()),
                           i) == UCD_SUCCESS);
    }
    for (int i = 0; i < 20; ++i) sides.progress();
    CHECK(sides.a.memory.most >= 10);
    CHECK(sides.a.memory.most <= 15);
    for (std::size_t i = 10; i-- > 0;) {
        out.push_back(std::make_unique<Strided>(5000));
        REQUIRE(start_receive(sides.b, *out.back(),
                              *outcomes.emplace_back(std::make_unique<Outcome>()),
                              i) == UCD_SUCCESS);
    }
    sides.until([&] {
        return std::all_of(outcomes.begin(), outcomes.end(), [](auto &o) { return o->done(); });
    });
    for (auto &o : out) CHECK(o->received_from(*in[0]));
    CHECK(sides.b.memory.most <= 15);
}

TEST_CASE("a device fails in the midst of a transfer") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    run_cases("ucx device failure", 60, [&](Case &one) {
        Rng &rng = one.rng();
        const RecipePtr recipe = recipes::vector(3000, 1, 2, recipes::leaf(UCD_TYPE__INT));
        const Subject s = make_subject(one, recipe, 1);
        const bool sender_fails = rng.chance(50);
        MockBuffer in(rng, s.range, sender_fails ? Memory::device0 : Memory::pageable);
        MockBuffer out(rng, s.range, sender_fails ? Memory::pageable : Memory::device0);
        in.send();
        out.send();
        (rng.chance(50) ? mock::knobs.failing_launch : mock::knobs.failing_work) =
            static_cast<int>(1 + rng.below(10));
        Outcome sent, received;
        const ucd_ucx_param_t p = sent.param(), q = received.param();
        REQUIRE(ucd_ucx_recv_nbx(sides.b.pipeline, out.real_base(), 1, s.type(), 1, 1, &q,
                                 &received.request) == UCD_SUCCESS);
        REQUIRE(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.real_base(), 1, s.type(), 1, &p,
                                 &sent.request) == UCD_SUCCESS);
        sides.until([&] { return sent.done() && received.done(); });
        mock::knobs.failing_launch = mock::knobs.failing_work = 0;
        const ucd_ucx_result_t &failed = sender_fails ? sent.result : received.result;
        if (failed.status != UCS_ERR_IO_ERROR || failed.ucd != UCD_ERR__DEVICE)
            one.fail("the failure was ", ucs_status_string(failed.status), ", ",
                     ucd_strerror(failed.ucd));
        if (sender_fails && received.result.status != UCS_ERR_IO_ERROR)
            one.fail("the receiver got ", ucs_status_string(received.result.status));
        if (!sender_fails && sent.result.status != UCS_OK)
            one.fail("the sender got ", ucs_status_string(sent.result.status));
    });
    check_usable(sides);
}

TEST_CASE("messages that nobody wanted are dropped with the pipeline") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    Strided in(5000);
    Outcome sent, active;
    REQUIRE(start_send(sides.a, in, sent, 12345) == UCD_SUCCESS);
    const ucd_ucx_param_t p = active.param();
    // Without a handler, an active message is dropped at once.
    REQUIRE(ucd_ucx_am_send_nbx(sides.a.pipeline, sides.a.ep, 1, "h", 1, in.data(), 1, in.type(),
                                &p, &active.request) == UCD_SUCCESS);
    sides.until([&] { return active.done(); });
    CHECK(active.result.status == UCS_OK);
    CHECK(!sent.done());
    REQUIRE(ucd_ucx_pipeline_destroy(&sides.b.pipeline) == UCD_SUCCESS);
    REQUIRE(ucd_ucx_cancel(sides.a.pipeline, sent.request) == UCD_SUCCESS);
    for (int i = 0; i < 20000 && !sent.done(); ++i) {
        ucp_worker_progress(sides.b.worker);
        ucd_ucx_progress(sides.a.pipeline);
    }
    CHECK(sent.result.status == UCS_ERR_CANCELED);
}

TEST_CASE("calls that cannot start say why and change nothing") {
    const MockSession session;
    TwoSides sides(SMALL_CHUNKS);
    Strided in(10);
    Outcome o;
    const auto send = [&](ucd_ucx_pipeline_t pipeline, ucp_ep_h ep, ucd_type_t type,
                          const ucd_ucx_param_t &p) {
        return ucd_ucx_send_nbx(pipeline, ep, in.data(), 1, type, 1, &p, &o.request);
    };
    const ucd_ucx_param_t p = o.param();
    CHECK(send(nullptr, sides.a.ep, in.type(), p) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_ucx_last_error()) ==
          "ucd_ucx_send_nbx: pipeline is NULL; it must not be");
    CHECK(send(sides.a.pipeline, nullptr, in.type(), p) == UCD_ERR__INVALID_ARG);
    CHECK(send(sides.a.pipeline, sides.a.ep, UCD_TYPE__NULL, p) == UCD_ERR__INVALID_ARG);
    ucd_ucx_param_t bad = p;
    bad.struct_size = 3;
    CHECK(send(sides.a.pipeline, sides.a.ep, in.type(), bad) == UCD_ERR__INVALID_ARG);
    for (const auto &[key, value] : {std::pair("ucd.ucx.chunk", "0"),
                                     {"ucd.ucx.chunk", "much"},
                                     {"ucd.ucx.depth", "-1"},
                                     {"ucd.ucx.eager", "99999999999999999999"}}) {
        const Keys keys({{key, value}});
        bad = p;
        bad.info = keys.get();
        CHECK(send(sides.a.pipeline, sides.a.ep, in.type(), bad) == UCD_ERR__INVALID_ARG);
        CHECK(std::string(ucd_ucx_last_error()).find(key) != std::string::npos);
    }
    CHECK(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.data(), UINTPTR_MAX / 2, in.type(), 1,
                           &p, &o.request) == UCD_ERR__OVERFLOW);
    const std::string long_header(100000, 'h');
    CHECK(ucd_ucx_am_send_nbx(sides.a.pipeline, sides.a.ep, 1, long_header.data(),
                              long_header.size(), in.data(), 1, in.type(), &p,
                              &o.request) == UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_lose_endpoint(sides.a.pipeline, sides.a.ep, UCS_OK) == UCD_ERR__INVALID_ARG);
    CHECK(ucd_ucx_cancel(sides.a.pipeline, nullptr) == UCD_ERR__INVALID_ARG);
    CHECK(o.request == UCD_UCX_REQUEST__NULL);
    check_usable(sides);
}
