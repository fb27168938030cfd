// Calls that put work into a stream of the user's.
#include "support/catch.hpp"

#include "support/keys.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"

#include "prepared/type_cache.h"

#include <string>
#include <vector>

namespace mock_stream_test {

using namespace ucdtest;
using enum ucdtest::Memory;

TEST_CASE("work in a stream is done in its order, without waiting") {
    DeviceSession session;
    mock::Stream stream(1);
    StridedMove first("pack", 200, device1, pinned), second("unpack", 200, device1, pinned);
    first.op = second.op = UCD_OP__SUM;
    set_up_pack(first.move());
    set_up_unpack(second.move());
    // What the second one unpacks is what the first one has packed.
    mock::hold();
    REQUIRE(pack_in(native(stream), first.move()) == UCD_SUCCESS);
    std::uintptr_t actual = 0;
    REQUIRE(ucd_unpack_stream(first.packed.real_base(), first.bytes(), second.typed.real_base(), 1,
                              second.type(), 0, &actual, UCD_INFO__NULL, UCD_OP__REPLACE,
                              native(stream)) == UCD_SUCCESS);
    CHECK(actual == first.bytes());
    for (std::size_t i = 0; i < second.bytes(); ++i)
        *second.typed.expected(second.what.subject.bytes[i]) =
            *first.packed.expected(static_cast<std::intptr_t>(i));
    mock::let_go();
    finish_in(stream);
    first.check();
    second.check();
    CHECK(mock::counts.stream_launches == 2);
    CHECK(mock::counts.launches == 0);
}

TEST_CASE("types may be freed once a call with a stream has returned") {
    DeviceSession session;
    mock::Stream stream(0);
    const int plans = mock::counts.live_plans;
    StridedMove pack("freed", 100, device0, device0);
    set_up_pack(pack.move());
    mock::hold();
    REQUIRE(pack_in(native(stream), pack.move()) == UCD_SUCCESS);
    pack.free_type();
    CHECK(mock::counts.live_plans == plans + 1);
    mock::let_go();
    finish_in(stream);
    pack.check();
    CHECK(mock::counts.live_plans == plans);
}

TEST_CASE("random moves in streams") {
    DeviceSession session;
    mock::Stream streams[] = {mock::Stream(0), mock::Stream(1)};
    run_cases("mock streams", 300, [&](Case &one) {
        Rng &rng = one.rng();
        mock::Stream &stream = streams[rng.below(2)];
        const Memory memories[] = {pinned, managed, stream.device() == 0 ? device0 : device1};
        const ucd_op_t op = random_device_op(rng);
        RecipeOptions options = device_options(op);
        options.index_memory = [&](Rng &r, const std::vector<std::byte> &bytes) {
            return copy_in(memories[r.below(3)], bytes);
        };
        const ReducedSubject what = with_elements(random_subject(one, options));
        const Subject &s = what.subject;
        DeviceBuffer typed(rng, s.range, memories[rng.below(3)]);
        DeviceBuffer packed(rng, {0, static_cast<std::intptr_t>(s.size())}, memories[rng.below(3)]);
        const DeviceMove move{one, op, what, typed, packed, 0, s.size()};
        for (const bool packs : {true, false}) {
            set_up(move, packs);
            one.succeed(packs ? pack_in(native(stream), move) : unpack_in(native(stream), move),
                        "a call in a stream");
            stream.synchronise();
            if (!stream.failure().empty()) one.fail(stream.failure());
            check_result(move);
        }
    });
}

TEST_CASE("a batch in a stream is one launch") {
    DeviceSession session;
    mock::Stream stream(0);
    StridedMoves moves;
    moves.add(10, device0, pinned);
    moves.set_up();
    MoveList packs = moves.list(), unpacks = moves.list(false);
    // One of them has nothing to move.
    StridedMove &idle = *std::next(moves.all.begin(), 3);
    packs[3].outcount = 0;
    std::copy_n(idle.packed.actual(0), idle.bytes(), idle.packed.expected(0));
    REQUIRE(start_in(stream, packs) == UCD_SUCCESS);
    for (const ucd_move_t &pack : packs) CHECK(pack.actual_bytes == pack.outcount);
    stream.synchronise();
    CHECK(mock::counts.stream_launches == 1);
    CHECK(mock::counts.moves == 9);
    moves.check();
    moves.set_up(false);
    REQUIRE(start_in(stream, unpacks) == UCD_SUCCESS);
    stream.synchronise();
    CHECK(mock::counts.stream_launches == 2);
    moves.check();
    // A wrong member, and nothing starts.
    unpacks[6].reserved[1] = 1;
    CHECK(start_in(stream, unpacks) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("ucd_move_stream: moves[6]: reserved"));
    unpacks[6].reserved[1] = 0;
    const std::vector<std::byte> host(1000);
    unpacks[5].inbuf = host.data();
    CHECK(start_in(stream, unpacks) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("moves[5]: inbuf is in memory that device 0 of backend mock"));
    CHECK(mock::counts.stream_launches == 2);
    CHECK(ucd_move_stream(nullptr, 0, UCD_INFO__NULL, UCD_OP__REPLACE, native(stream)) ==
          UCD_SUCCESS);
}

TEST_CASE("what hints name the host reaches, too, goes into the stream") {
    DeviceSession session;
    mock::Stream stream(1);
    const Keys hints({{"ucd.inbuf", "pinned"}, {"ucd.outbuf", "pinned"}});
    StridedMoves moves;
    moves.add(10, pinned, pinned);
    moves.set_up();
    REQUIRE(start_in(stream, moves.list(), hints) == UCD_SUCCESS);
    stream.synchronise();
    CHECK(mock::counts.stream_launches == 1);
    moves.check();
}

TEST_CASE("without peers, a device reaches its own memory") {
    DeviceSession session;
    mock::knobs.peers = true;
    mock::Stream stream(1);
    const Keys alone({{"ucd.peers", "none"}});
    for (const Memory packed_at : {device1, device0, pinned}) {
        StridedMove m("alone", 100, device1, packed_at);
        set_up_pack(m.move());
        const int rc = pack_in(native(stream), m.move(), alone);
        CHECK(rc == (packed_at == device0 ? UCD_ERR__NOT_SUPPORTED : UCD_SUCCESS));
        stream.synchronise();
        if (rc == UCD_SUCCESS) m.check();
    }
}

TEST_CASE("buffers must be reachable from the stream's device") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const Memory memory : {pageable, device1}) {
        StridedMove outside("outside", 10, memory, pinned), target("target", 10, device0, memory);
        CHECK(pack_in(native(stream), outside.move()) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("inbuf"));
        CHECK(unpack_in(native(stream), outside.move()) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("outbuf"));
        CHECK(pack_in(native(stream), target.move()) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("outbuf"));
    }
    // Hints, too, are looked at for each buffer.
    for (const std::string &inbuf : {hint_for(device0), hint_for(pinned), hint_for(managed)})
        for (const std::string &outbuf :
             {hint_for(pageable), hint_for(device1), std::string("cuda:0")}) {
            INFO(inbuf << " to " << outbuf);
            const Keys hints({{"ucd.inbuf", inbuf}, {"ucd.outbuf", outbuf}});
            StridedMove hinted("hinted", 10, pinned, pinned);
            CHECK(pack_in(native(stream), hinted.move(), hints) == UCD_ERR__NOT_SUPPORTED);
            CHECK(last_error_says(outbuf == "cuda:0" ? "cuda" : "outbuf"));
        }
    // A hint for one buffer says nothing of the other.
    const Keys hint({{"ucd.inbuf", hint_for(device0)}});
    StridedMove a("outside", 10, device0, pageable), b("outside", 10, device0, pageable);
    ucd_move_t packs[] = {pack_of(a.move()), pack_of(b.move())};
    CHECK(ucd_move_stream(packs, 2, hint, UCD_OP__REPLACE, native(stream)) ==
          UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("outbuf"));
    mock::knobs.peers = true;
    StridedMove peer("peer", 10, device1, device0);
    set_up_pack(peer.move());
    CHECK(pack_in(native(stream), peer.move()) == UCD_SUCCESS);
    stream.synchronise();
    peer.check();
    CHECK(mock::counts.stream_launches == 1);
}

TEST_CASE("a plan goes into streams of each device that reaches its buffers") {
    DeviceSession session;
    mock::knobs.peers = true;
    mock::Stream streams[] = {mock::Stream(0), mock::Stream(1)};
    StridedMove m("planned", 50, device0, pinned);
    MoveList list = {pack_of(m.move())};
    const MoveBuffers same(list);
    ucd_plan_t plan = UCD_PLAN__NULL;
    REQUIRE(ucd_plan_create(list.data(), 1, UCD_INFO__NULL, UCD_OP__REPLACE, &plan) == UCD_SUCCESS);
    for (mock::Stream &stream : streams)
        for (const bool with : {false, true}) {
            INFO("device " << stream.device() << (with ? ", with buffers" : ""));
            set_up_pack(m.move());
            const int rc = with ? ucd_plan_start_with_stream(plan, same.in.data(), same.out.data(),
                                                             native(stream))
                                : ucd_plan_start_stream(plan, native(stream));
            CHECK(rc == UCD_SUCCESS);
            finish_in(stream);
            m.check();
        }
    CHECK(ucd_plan_free(&plan) == UCD_SUCCESS);
}

TEST_CASE("a stream says which device it belongs to") {
    DeviceSession session;
    mock::Stream stream(1);
    StridedMove m("device -1", 50, device1, pinned);
    set_up_pack(m.move());
    REQUIRE(ucd_prepare(1, m.type(), UCD_OP__REPLACE, {"mock", -1, &stream, nullptr},
                        UCD_INFO__NULL) == UCD_SUCCESS);
    REQUIRE(pack_in({"mock", -1, &stream, nullptr}, m.move()) == UCD_SUCCESS);
    finish_in(stream);
    m.check();
}

TEST_CASE("streams that are none") {
    DeviceSession session;
    mock::Stream stream(0);
    StridedMove m("wrong stream", 10, pinned, pinned);
    const auto pack = [&](const ucd_stream_t &to) { return pack_in(to, m.move()); };
    CHECK(pack({"mock", 2, &stream, nullptr}) == UCD_ERR__NOT_SUPPORTED);
    CHECK(pack({"mock", -2, &stream, nullptr}) == UCD_ERR__NOT_SUPPORTED);
    CHECK(pack({"mock", -1, nullptr, nullptr}) == UCD_ERR__INVALID_ARG);
    CHECK(pack({"cuda", -1, &stream, nullptr, 0}) == UCD_ERR__NOT_SUPPORTED);
    CHECK(pack({"seq", -1, &stream, nullptr}) == UCD_ERR__INVALID_ARG);
    CHECK(last_error_says("stream.device is -1"));
    CHECK(pack({"mock", 1, &stream, nullptr}) == UCD_ERR__INVALID_ARG);
    CHECK(pack({"mock", 0, nullptr, nullptr}) == UCD_ERR__INVALID_ARG);
    CHECK(pack({"cuda", 0, &stream, nullptr, 0}) == UCD_ERR__NOT_SUPPORTED);
    CHECK(last_error_says("cuda, which is not available"));
    // The other arguments are checked as without a stream.
    std::uintptr_t actual = 5;
    CHECK(ucd_pack_stream(m.typed.real_base(), 1, m.type(), m.bytes() + 1, m.packed.real_base(), 1,
                          &actual, UCD_INFO__NULL, UCD_OP__REPLACE,
                          native(stream)) == UCD_ERR__INVALID_ARG);
    CHECK(ucd_pack_stream(m.typed.real_base(), 1, m.type(), 0, nullptr, 1, &actual, UCD_INFO__NULL,
                          UCD_OP__REPLACE, native(stream)) == UCD_ERR__INVALID_ARG);
    CHECK(actual == 5);
    CHECK(ucd_pack_stream(m.typed.real_base(), 1, m.type(), 0, nullptr, 0, &actual, UCD_INFO__NULL,
                          UCD_OP__REPLACE, native(stream)) == UCD_SUCCESS);
    CHECK(actual == 0);
    CHECK(mock::counts.stream_launches == 0);
}

TEST_CASE("a copy in a stream of which any step is refused") {
    DeviceSession session;
    mock::Stream stream(0);
    Rng rng(7);
    const BuiltType in_type(recipes::vector(8, 1, 2, recipes::leaf(UCD_TYPE__INT))),
        out_type(recipes::vector(8, 1, 3, recipes::leaf(UCD_TYPE__INT)));
    DeviceBuffer in(rng, {0, 64}, device0), out(rng, {0, 96}, device0);
    in.send();
    int refused = 0;
    for (bool one_was = true; one_was; refused += one_was) {
        mock::knobs.failing_launch = refused + 1;
        MoveList copies = {
            copy_move(in.real_base(), 1, in_type.get(), out.real_base(), 1, out_type.get())};
        const int rc = start_in(stream, copies);
        one_was = mock::knobs.failing_launch == 0;
        CHECK(rc == (one_was ? UCD_ERR__DEVICE : UCD_SUCCESS));
        CHECK(copies[0].actual_bytes == (one_was ? 0 : 32));
    }
    CHECK(refused >= 2);
    mock::knobs.failing_launch = 0;
    finish_in(stream);
}

TEST_CASE("ucd_prepare makes the plan that calls then use") {
    DeviceSession session;
    mock::Stream stream(0);
    StridedMove m("prepare", 10, device0, pinned);
    const int plans = mock::counts.live_plans;
    REQUIRE(ucd_prepare(1, m.type(), UCD_OP__SUM, native(stream), UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK(mock::counts.prepared == 1);
    CHECK(mock::counts.live_plans == plans + 1);
    set_up_pack(m.move());
    REQUIRE(pack_in(native(stream), m.move()) == UCD_SUCCESS);
    stream.synchronise();
    CHECK(mock::counts.live_plans == plans + 1);
    m.check();
    CHECK(ucd_prepare(0, m.type(), UCD_OP__SUM, native(stream), UCD_INFO__NULL) == UCD_SUCCESS);
    CHECK(ucd_prepare(1, UCD_TYPE__LONG_DOUBLE, UCD_OP__SUM, native(stream), UCD_INFO__NULL) ==
          UCD_ERR__NOT_SUPPORTED);
    CHECK(ucd_prepare(1, m.type(), UCD_OP__SUM, {"mock", 9, &stream, nullptr}, UCD_INFO__NULL) ==
          UCD_ERR__NOT_SUPPORTED);
}

// The normal form of a long list takes longer than a launch, and that of a short one does not.
TEST_CASE("a long list is moved once as it was described, in a stream or not") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const bool in_stream : {false, true}) {
        for (const std::size_t count : {1023, 1024}) {
            Rng rng(count);
            Ints displs;
            std::intptr_t at = 0;
            for (std::size_t i = 0; i < count; ++i) displs.push_back(at += 2 + rng.below(5));
            WholeMove whole("first use",
                            recipes::indexed_block(2, displs, recipes::leaf(UCD_TYPE__INT)),
                            device0, pinned);
            const auto has_layout = [&] {
                return reinterpret_cast<const ucd::Type *>(whole.type())->state.cache.load() !=
                       nullptr;
            };
            for (const bool first : {true, false}) {
                set_up_pack(whole.move());
                REQUIRE_FALSE((first && has_layout()));
                if (in_stream)
                    REQUIRE(pack_in(native(stream), whole.move()) == UCD_SUCCESS);
                else
                    pack_now(whole.typed.real_base(), 1, whole.type(), 0, whole.packed.real_base(),
                             whole.bytes());
                finish_in(stream);
                whole.check();
                INFO(count << " entries" << (in_stream ? " in a stream" : ""));
                CHECK(has_layout() == !(first && count == 1024));
            }
        }
    }
}

} // namespace mock_stream_test
