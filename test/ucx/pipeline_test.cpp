// What pipelines move, between random layouts in all kinds of memory, against the oracle.

#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"
#include "ucx/strided.hpp"
#include "ucx/window_of.hpp"

#include <algorithm>
#include <cstring>

namespace pipeline_test {

using namespace ucdtest;

namespace {

// The layout that is sent, and one with at least as many bytes that it is received in.
struct Ends {
    Subject from, to;
    DeviceBuffer in, out;

    explicit Ends(Case &one)
        : from(random_subject(one, device_options(UCD_OP__REPLACE), 5, "sent")),
          to(one.rng().chance(30) ? transposed(one) : larger(one)),
          in(one.rng(), from.range, random_memory(one.rng())),
          out(one.rng(), to.range, random_memory(one.rng())) {
        for (std::size_t i = 0; i < from.size(); ++i)
            *out.expected(to.bytes[i]) = *in.actual(from.bytes[i]);
        in.send();
        out.send();
    }

    Subject larger(Case &one) const {
        for (;;) {
            Subject s = random_subject(one, device_options(UCD_OP__REPLACE), 5, "received");
            if (s.size() >= from.size()) return s;
        }
    }
    // Columns, each as long as the message has bytes.
    Subject transposed(Case &one) const {
        const auto n = static_cast<std::intptr_t>(from.size());
        return make_subject(one, recipes::vector(n, 1, 3, recipes::leaf(UCD_TYPE__BYTE)), 1,
                            "received");
    }

    // The buffer to send: a copy in the window's memory, if there is a window and it has room.
    const void *buffer(const WindowOf *window) const {
        const auto low = from.range.low;
        const std::size_t bytes = from.range.length();
        if (window == nullptr || in.memory() != Memory::pageable || bytes > window->bytes)
            return in.real_base();
        std::memcpy(window->data, static_cast<const char *>(in.real_base()) + low, bytes);
        return window->data - low;
    }

    void check(Case &one) {
        in.fetch();
        out.fetch();
        require_intact(one, in, "what was sent");
        require_intact(one, out, "what was received");
    }
};

void check_outcome(Case &one, const Outcome &o, std::size_t bytes, const char *who) {
    if (o.calls != 1) one.fail(who, " was called back ", o.calls, " times");
    if (o.request == UCD_UCX_REQUEST__NULL) return;
    if (o.result.status != UCS_OK) one.fail(who, ": ", ucs_status_string(o.result.status));
    if (o.result.bytes != bytes) one.fail(who, " moved ", o.result.bytes, " bytes");
    ucd_ucx_result_t again = {};
    again.struct_size = sizeof again;
    if (ucd_ucx_request_check(o.request, &again) != UCS_OK || again.bytes != bytes)
        one.fail(who, ": the request says otherwise");
}

void transfer_tagged(Case &one, TwoSides &pair, const WindowOf *window = nullptr) {
    Ends ends(one);
    Rng &rng = one.rng();
    Keys in_hints, out_hints;
    if (rng.chance(30)) in_hints.set("ucd.inbuf", hint_for(ends.in.memory()));
    if (rng.chance(30)) out_hints.set("ucd.outbuf", hint_for(ends.out.memory()));
    const ucp_tag_t tag = rng.bits();
    Outcome sent, received;
    const auto send = [&] {
        const ucd_ucx_param_t p = sent.param(in_hints.get());
        ok(ucd_ucx_send_nbx(pair.a.pipeline, pair.a.ep, ends.buffer(window), ends.from.count,
                            ends.from.type(), tag, &p, &sent.request),
           "ucd_ucx_send_nbx");
        sent.started();
    };
    const auto receive = [&] {
        const ucd_ucx_param_t p = received.param(out_hints.get());
        ok(ucd_ucx_recv_nbx(pair.b.pipeline, ends.out.real_base(), ends.to.count, ends.to.type(),
                            tag, UINT64_MAX, &p, &received.request),
           "ucd_ucx_recv_nbx");
    };
    const bool expected = rng.chance(50);
    if (expected) receive();
    send();
    if (!expected) {
        for (std::size_t i = rng.below(20); i > 0; --i) pair.progress();
        receive();
    }
    // Whatever was needed of the types has been kept.
    ends.from.built = BuiltType();
    ends.to.built = BuiltType();
    pair.until([&] { return sent.done() && received.done(); });
    check_outcome(one, sent, ends.from.size(), "the sender");
    check_outcome(one, received, ends.from.size(), "the receiver");
    if (received.result.tag != tag) one.fail("the tag is ", received.result.tag, ", not ", tag);
    ends.check(one);
}

struct Active {
    ucd_ucx_data_t data = nullptr;
    unsigned id = 0;
    std::string header;
    std::uint64_t bytes = 0;
    static void on_message(void *arg, unsigned id, const void *header, std::size_t header_length,
                           ucd_ucx_data_t data, std::uint64_t bytes, ucp_ep_h) {
        *static_cast<Active *>(arg) = {
            data, id, std::string(static_cast<const char *>(header), header_length), bytes};
    }
};

void transfer_active(Case &one, TwoSides &pair, const WindowOf *window = nullptr) {
    Ends ends(one);
    Rng &rng = one.rng();
    Active active;
    ok(ucd_ucx_am_set_handler(pair.b.pipeline, Active::on_message, &active), "set_handler");
    std::string header(rng.below(200), 'h');
    for (char &c : header) c = static_cast<char>(rng.bits());
    const auto id = static_cast<unsigned>(rng.bits());
    Outcome sent, received;
    const ucd_ucx_param_t p = sent.param();
    ok(ucd_ucx_am_send_nbx(pair.a.pipeline, pair.a.ep, id, header.data(), header.size(),
                           ends.buffer(window), ends.from.count, ends.from.type(), &p,
                           &sent.request),
       "ucd_ucx_am_send_nbx");
    sent.started();
    pair.until([&] { return active.data != nullptr; });
    if (active.id != id || active.header != header || active.bytes != ends.from.size())
        one.fail("the handler was told of another message");
    for (std::size_t i = rng.below(20); i > 0; --i) pair.progress();
    const ucd_ucx_param_t q = received.param();
    ok(ucd_ucx_am_recv_nbx(pair.b.pipeline, active.data, ends.out.real_base(), ends.to.count,
                           ends.to.type(), &q, &received.request),
       "ucd_ucx_am_recv_nbx");
    pair.until([&] { return sent.done() && received.done(); });
    check_outcome(one, sent, ends.from.size(), "the sender");
    check_outcome(one, received, ends.from.size(), "the receiver");
    ends.check(one);
}

} // namespace

TEST_CASE("tagged transfers between random layouts") {
    const DeviceSession session;
    const char *const pack = GENERATE("chunk", "ucx");
    TwoSides pair({{"ucd.ucx.eager", "64"},
                   {"ucd.ucx.chunk", "100"},
                   {"ucd.ucx.depth", "3"},
                   {"ucd.ucx.pack", pack}});
    run_cases("ucx tagged", 600, [&](Case &one) { transfer_tagged(one, pair); });
}

TEST_CASE("active messages between random layouts") {
    const DeviceSession session;
    const char *const pack = GENERATE("chunk", "ucx");
    TwoSides pair({{"ucd.ucx.eager", "64"},
                   {"ucd.ucx.chunk", "100"},
                   {"ucd.ucx.depth", "3"},
                   {"ucd.ucx.pack", pack}});
    run_cases("ucx active", 600, [&](Case &one) { transfer_active(one, pair); });
}

// A process may map its own memory, so both ends can be here.
TEST_CASE("transfers whose data is read where it is") {
    const DeviceSession session;
    TwoSides pair({{"ucd.ucx.eager", "0"},
                   {"ucd.ucx.chunk", "100"},
                   {"ucd.ucx.direct", "always"},
                   {"ucd.ucx.direct_bytes", "0"}});
    const WindowOf window(pair.a, 1 << 20);
    int direct = 0;
    run_cases("ucx direct", 600, [&](Case &one) {
        pair.b.events.clear();
        one.rng().chance(50) ? transfer_tagged(one, pair, &window)
                             : transfer_active(one, pair, &window);
        direct += std::any_of(pair.a.events.begin(), pair.a.events.end(), [](const auto &e) {
            return e.what == UCD_UCX_EVENT__SHARE && e.offset == 0;
        });
        pair.a.events.clear();
    });
    CHECK(direct > 0);
}

TEST_CASE("many transfers at a time, matched in any order") {
    const DeviceSession session;
    // One chunk of memory for each side: every transfer gets one of its own beyond that.
    TwoSides pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.staging", "100"}});
    run_cases("ucx many", 60, [&](Case &one) {
        constexpr std::size_t count = 8;
        std::vector<std::unique_ptr<Ends>> ends;
        std::vector<std::unique_ptr<Outcome>> outcomes;
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < count; ++i) {
            ends.push_back(std::make_unique<Ends>(one));
            order.push_back(i);
        }
        const auto next = [&]() -> Outcome & {
            return *outcomes.emplace_back(std::make_unique<Outcome>());
        };
        one.rng().shuffle(order);
        for (const std::size_t i : order) {
            Outcome &o = next();
            const ucd_ucx_param_t p = o.param();
            ok(ucd_ucx_send_nbx(pair.a.pipeline, pair.a.ep, ends[i]->in.real_base(),
                                ends[i]->from.count, ends[i]->from.type(), i, &p, &o.request),
               "ucd_ucx_send_nbx");
            o.started();
        }
        for (int i = 0; i < 10; ++i) pair.progress();
        one.rng().shuffle(order);
        for (const std::size_t i : order) {
            Outcome &o = next();
            const ucd_ucx_param_t p = o.param();
            ok(ucd_ucx_recv_nbx(pair.b.pipeline, ends[i]->out.real_base(), ends[i]->to.count,
                                ends[i]->to.type(), i, UINT64_MAX, &p, &o.request),
               "ucd_ucx_recv_nbx");
            // One after the other: those that were sent earlier must not stand in its way.
            pair.until([&] { return o.done(); });
        }
        pair.until([&] {
            return std::all_of(outcomes.begin(), outcomes.end(),
                               [](const auto &o) { return o->done(); });
        });
        for (auto &e : ends) e->check(one);
    });
}

TEST_CASE("a message is matched in the order in which it was sent, small or large") {
    const DeviceSession session;
    TwoSides pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}});
    const std::size_t sizes[] = {1000, 10, 300, 0, 64, 65, 2000};
    std::vector<std::vector<char>> in, out;
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (const std::size_t n : sizes) {
        in.emplace_back(n, static_cast<char>(n));
        out.emplace_back(2000, 'x');
        Outcome &o = *outcomes.emplace_back(std::make_unique<Outcome>());
        const ucd_ucx_param_t p = o.param();
        ok(ucd_ucx_send_nbx(pair.a.pipeline, pair.a.ep, in.back().data(), n, UCD_TYPE__CHAR, 5, &p,
                            &o.request),
           "send");
        o.started();
    }
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        Outcome &o = *outcomes.emplace_back(std::make_unique<Outcome>());
        const ucd_ucx_param_t p = o.param();
        ok(ucd_ucx_recv_nbx(pair.b.pipeline, out[i].data(), 2000, UCD_TYPE__CHAR, 5, 0xff, &p,
                            &o.request),
           "receive");
    }
    pair.until([&] {
        return std::all_of(outcomes.begin(), outcomes.end(), [](auto &o) { return o->done(); });
    });
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        CHECK(outcomes[std::size(sizes) + i]->result.bytes == sizes[i]);
        CHECK(std::equal(in[i].begin(), in[i].end(), out[i].begin()));
    }
}

// One side may pack in chunks, and the other one leave unpacking to UCX, and the other way round.
TEST_CASE("long and short rows are packed by either side's choice") {
    const DeviceSession session;
    const std::size_t row = GENERATE(as<std::size_t>(), 12, 2044, 2048, 10000, 100000);
    const char *const packs[] = {"chunk", "ucx", "auto"};
    TwoSides sides({{"ucd.ucx.eager", "1000"}, {"ucd.ucx.chunk", "70001"}});
    ucd_type_t type;
    const std::size_t rows = 300000 / row;
    REQUIRE(ucd_create_vector(static_cast<std::intptr_t>(rows), static_cast<std::intptr_t>(row),
                              static_cast<std::intptr_t>(row + 8), UCD_TYPE__BYTE, UCD_INFO__NULL,
                              &type) == UCD_SUCCESS);
    std::vector<char> in(rows * (row + 8));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 2654435761U >> 13);
    for (const char *const at_sender : packs)
        for (const char *const at_receiver : packs)
            for (const bool in_place : {false, true}) {
                const Keys send_keys({{"ucd.ucx.pack", at_sender}});
                const Keys receive_keys({{"ucd.ucx.pack", at_receiver}});
                std::vector<char> out(in_place ? rows * row : in.size(), 'o');
                Outcome sent, received;
                const ucd_ucx_param_t p = sent.param(send_keys.get());
                const ucd_ucx_param_t q = received.param(receive_keys.get());
                ok(ucd_ucx_recv_nbx(sides.b.pipeline, out.data(), in_place ? rows * row : 1,
                                    in_place ? UCD_TYPE__BYTE : type, 1, 1, &q, &received.request),
                   "receive");
                ok(ucd_ucx_send_nbx(sides.a.pipeline, sides.a.ep, in.data(), 1, type, 1, &p,
                                    &sent.request),
                   "send");
                sides.until([&] { return sent.done() && received.done(); });
                REQUIRE(received.result.status == UCS_OK);
                const std::size_t pitch = in_place ? row : row + 8;
                for (std::size_t i = 0; i < rows; ++i) {
                    const auto from = in.begin() + static_cast<std::ptrdiff_t>(i * (row + 8));
                    const auto to = out.begin() + static_cast<std::ptrdiff_t>(i * pitch);
                    REQUIRE(std::equal(to, to + static_cast<std::ptrdiff_t>(row), from));
                    REQUIRE(std::all_of(to + static_cast<std::ptrdiff_t>(row),
                                        to + static_cast<std::ptrdiff_t>(pitch),
                                        [](char c) { return c == 'o'; }));
                }
            }
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

TEST_CASE("messages about the default thresholds") {
    const DeviceSession session;
    TwoSides sides;
    for (const std::size_t bytes : {8 << 10, 64 << 10, 512 << 10, 1 << 20})
        for (const std::size_t ints : {bytes / sizeof(int) - 1, bytes / sizeof(int) + 1}) {
            Strided in(ints), out(ints);
            Outcome sent, received;
            REQUIRE(start_receive(sides.b, out, received) == UCD_SUCCESS);
            REQUIRE(start_send(sides.a, in, sent) == UCD_SUCCESS);
            sides.until([&] { return sent.done() && received.done(); });
            CHECK(received.result.bytes == in.bytes());
            CHECK(out.received_from(in));
        }
}

TEST_CASE("chunks are packed and unpacked while others are on the network") {
    const DeviceSession session;
    TwoSides pair({{"ucd.ucx.eager", "64"},
                   {"ucd.ucx.chunk", "1000"},
                   {"ucd.ucx.depth", "3"},
                   {"ucd.ucx.pack", "chunk"}});
    std::vector<int> in(2 * 25000), out(2 * 25000, 0);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
    ucd_type_t type;
    REQUIRE(ucd_create_vector(25000, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    Outcome sent, received;
    const ucd_ucx_param_t p = sent.param(), q = received.param();
    ok(ucd_ucx_recv_nbx(pair.b.pipeline, out.data(), 1, type, 1, 1, &q, &received.request),
       "receive");
    ok(ucd_ucx_send_nbx(pair.a.pipeline, pair.a.ep, in.data(), 1, type, 1, &p, &sent.request),
       "send");
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
    // As much as the sender can do, before the receiver has its turn: as if it took its time.
    pair.until([&] {
        for (int i = 0; i < 3; ++i) ucd_ucx_progress(pair.a.pipeline);
        return sent.done() && received.done();
    });
    REQUIRE(received.result.status == UCS_OK);
    for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == (i % 2 == 0 ? in[i] : 0));

    // Each chunk's events are in order; and it says how many were packed while another was away.
    std::size_t away = 0, packed_meanwhile = 0, packed = 0;
    for (const ucd_ucx_event_t &e : pair.a.events) {
        away += e.what == UCD_UCX_EVENT__POST;
        away -= e.what == UCD_UCX_EVENT__SENT;
        packed += e.what == UCD_UCX_EVENT__PACK_END;
        packed_meanwhile += e.what == UCD_UCX_EVENT__PACK_END && away > 0;
    }
    CHECK(packed == 100);
    CHECK(packed_meanwhile > 50);
    std::size_t unpacked_before_the_last_came = 0, unpacked = 0, arrived = 0;
    for (const ucd_ucx_event_t &e : pair.b.events) {
        arrived += e.what == UCD_UCX_EVENT__RECEIVED;
        unpacked += e.what == UCD_UCX_EVENT__UNPACK_END;
        unpacked_before_the_last_came += e.what == UCD_UCX_EVENT__UNPACK_END && arrived < 100;
    }
    CHECK(arrived == 100);
    CHECK(unpacked == 100);
    CHECK(unpacked_before_the_last_came > 50);
}

} // namespace pipeline_test
