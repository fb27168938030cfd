// What pipelines move, between random layouts in all kinds of memory, against the oracle.

#include "support/device_test.hpp"
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
        start_send(pair.a, {ends.buffer(window), ends.from.count, ends.from.type()}, sent, tag,
                   in_hints.get());
    };
    const auto receive = [&] {
        start_receive(pair.b, {ends.out.real_base(), ends.to.count, ends.to.type()}, received, tag,
                      out_hints.get());
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

void transfer_active(Case &one, TwoSides &pair, const WindowOf *window = nullptr) {
    Ends ends(one);
    Rng &rng = one.rng();
    Told told(pair.b);
    std::string header(rng.below(200), 'h');
    for (char &c : header) c = static_cast<char>(rng.bits());
    const auto id = static_cast<unsigned>(rng.bits());
    Outcome sent, received;
    start_active(pair.a, {ends.buffer(window), ends.from.count, ends.from.type()}, sent, header,
                 id);
    pair.until([&] { return told.times > 0; });
    if (told.id != id || told.header != header || told.bytes != ends.from.size())
        one.fail("the handler was told of another message");
    for (std::size_t i = rng.below(20); i > 0; --i) pair.progress();
    start_receive_active(pair.b, told.data, {ends.out.real_base(), ends.to.count, ends.to.type()},
                         received);
    pair.until([&] { return sent.done() && received.done(); });
    check_outcome(one, sent, ends.from.size(), "the sender");
    check_outcome(one, received, ends.from.size(), "the receiver");
    ends.check(one);
}

} // namespace

DEVICE_TEST("tagged transfers between random layouts") {
    const char *const pack = GENERATE("chunk", "ucx");
    TwoSides pair({{"ucd.ucx.eager", "64"},
                   {"ucd.ucx.chunk", "100"},
                   {"ucd.ucx.depth", "3"},
                   {"ucd.ucx.pack", pack}});
    run_cases("ucx tagged", 600, [&](Case &one) { transfer_tagged(one, pair); });
}

DEVICE_TEST("active messages between random layouts") {
    const char *const pack = GENERATE("chunk", "ucx");
    TwoSides pair({{"ucd.ucx.eager", "64"},
                   {"ucd.ucx.chunk", "100"},
                   {"ucd.ucx.depth", "3"},
                   {"ucd.ucx.pack", pack}});
    run_cases("ucx active", 600, [&](Case &one) { transfer_active(one, pair); });
}

// A process may map its own memory, so both ends can be here.
DEVICE_TEST("transfers whose data is read where it is") {
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

DEVICE_TEST("many transfers at a time, matched in any order") {
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
            start_send(pair.a, {ends[i]->in.real_base(), ends[i]->from.count, ends[i]->from.type()},
                       o, i);
        }
        for (int i = 0; i < 10; ++i) pair.progress();
        one.rng().shuffle(order);
        for (const std::size_t i : order) {
            Outcome &o = next();
            start_receive(pair.b, {ends[i]->out.real_base(), ends[i]->to.count, ends[i]->to.type()},
                          o, i);
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

DEVICE_TEST("a message is matched in the order in which it was sent, small or large") {
    TwoSides pair({{"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}});
    const std::size_t sizes[] = {1000, 10, 300, 0, 64, 65, 2000};
    std::vector<std::vector<char>> in, out;
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (const std::size_t n : sizes) {
        in.emplace_back(n, static_cast<char>(n));
        out.emplace_back(2000, 'x');
        Outcome &o = *outcomes.emplace_back(std::make_unique<Outcome>());
        start_send(pair.a, {in.back().data(), n, UCD_TYPE__CHAR}, o, 5);
    }
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
        Outcome &o = *outcomes.emplace_back(std::make_unique<Outcome>());
        start_receive(pair.b, {out[i].data(), 2000, UCD_TYPE__CHAR}, o, 5, UCD_INFO__NULL, 0xff);
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
DEVICE_TEST("long and short rows are packed by either side's choice") {
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
                start_receive(
                    sides.b,
                    {out.data(), in_place ? rows * row : 1, in_place ? UCD_TYPE__BYTE : type},
                    received, 1, receive_keys.get(), 1);
                start_send(sides.a, {in.data(), 1, type}, sent, 1, send_keys.get());
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

DEVICE_TEST("messages about the default thresholds") {
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

DEVICE_TEST("chunks are packed and unpacked while others are on the network") {
    TwoSides pair({{"ucd.ucx.eager", "64"},
                   {"ucd.ucx.chunk", "1000"},
                   {"ucd.ucx.depth", "3"},
                   {"ucd.ucx.pack", "chunk"}});
    std::vector<int> in(2 * 25000), out(2 * 25000, 0);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
    ucd_type_t type;
    REQUIRE(ucd_create_vector(25000, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    Outcome sent, received;
    start_receive(pair.b, {out.data(), 1, type}, received, 1, UCD_INFO__NULL, 1);
    start_send(pair.a, {in.data(), 1, type}, sent);
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
