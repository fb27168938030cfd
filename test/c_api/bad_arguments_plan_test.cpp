// Bad arguments of moves of any kind, and of plans.
#include "c_api/refusal.hpp"
#include "support/moves/move_list.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bad_arguments_plan_test {

using namespace ucdtest;

namespace {

constexpr std::uintptr_t untouched_bytes = 0x5a5a5a5a5a5a5a5a;

// One move of each kind, on real memory, so that it shows if a good one was started.
struct Moves {
    unsigned char in[4][64] = {{1}, {2}, {3}, {4}}, out[4][64] = {};
    MoveList list;

    explicit Moves(ucd_type_t v) {
        const ucd_type_t none = UCD_TYPE__NULL;
        list = {copy_move(in[0], 1, v, out[0], packed, none),
                copy_move(in[1], packed, none, out[1], 1, v), copy_move(in[2], 1, v, out[2], 1, v),
                copy_move(in[3], packed, none, out[3], packed, none)};
        for (ucd_move_t &m : list) m.actual_bytes = m.consumed_bytes = untouched_bytes;
    }
    bool unchanged() const {
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].actual_bytes != untouched_bytes ||
                list[i].consumed_bytes != untouched_bytes)
                return false;
            for (const unsigned char byte : out[i])
                if (byte != 0) return false;
        }
        return true;
    }
};

// The functions that take moves.
struct ListCall {
    const char *name;
    std::function<int(ucd_move_t *, std::uintptr_t, ucd_op_t)> call;
};
std::vector<ListCall> calls_of_moves(Outputs &o) {
    return {{"ucd_imove",
             [&](auto *m, auto n, auto op) { return ucd_imove(m, n, nullptr, op, &o.request); }},
            {"ucd_move", [](auto *m, auto n, auto op) { return ucd_move(m, n, nullptr, op); }},
            {"ucd_plan_create", [&](auto *m, auto n, auto op) {
                 return ucd_plan_create(m, n, nullptr, op, &o.plan);
             }}};
}

enum Kind { packing, unpacking, copying, plain };

} // namespace

TEST_CASE_METHOD(Refusing, "Lists of moves refuse what is wrong in a member, and name it") {
    for (const ListCall &c : calls_of_moves(r.out)) {
        const auto refused = [&](int status, Kind which, const std::string &words, ucd_op_t op,
                                 auto spoil) {
            Moves moves(v);
            if (op != UCD_OP__REPLACE) moves.list.pop_back(); // plain bytes take no other
            spoil(moves.list[which]);
            const auto go = [&] { return c.call(moves.list.data(), moves.list.size(), op); };
            r.refused(c.name, status, "moves[" + std::to_string(which) + "]", go);
            r.refused(c.name, status, words, go);
            CHECK(moves.unchanged());
        };
        const auto invalid = [&](Kind which, const std::string &words, auto spoil) {
            refused(UCD_ERR__INVALID_ARG, which, words, UCD_OP__REPLACE, spoil);
        };
        const auto no_type = [](std::uintptr_t value) {
            return reinterpret_cast<ucd_type_t>(value);
        };
        for (const std::uintptr_t handle : {first_unknown_type(), std::uintptr_t{4095}}) {
            invalid(packing, "intype is", [&](ucd_move_t &m) { m.intype = no_type(handle); });
            invalid(unpacking, "outtype is", [&](ucd_move_t &m) { m.outtype = no_type(handle); });
            invalid(copying, "intype is", [&](ucd_move_t &m) { m.intype = no_type(handle); });
            invalid(copying, "outtype is", [&](ucd_move_t &m) { m.outtype = no_type(handle); });
        }
        for (const Kind kind : {packing, unpacking, copying, plain})
            for (const int i : {0, 1, 2, 3})
                for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{1} << 63})
                    invalid(kind, "reserved", [=](ucd_move_t &m) { m.reserved[i] = value; });
        // Offsets: beyond a stream, and of packed sides.
        for (const Kind kind : {packing, copying})
            invalid(kind, "inoffset is 25", [](ucd_move_t &m) { m.inoffset = 25; });
        for (const Kind kind : {unpacking, copying})
            invalid(kind, "outoffset is 25", [](ucd_move_t &m) { m.outoffset = 25; });
        for (const Kind kind : {unpacking, plain})
            invalid(kind, "inoffset is 1; of a packed side", [](ucd_move_t &m) { m.inoffset = 1; });
        for (const Kind kind : {packing, plain})
            invalid(kind, "outoffset is 1; of a packed side",
                    [](ucd_move_t &m) { m.outoffset = 1; });
        // NULL buffers.
        for (const Kind kind : {packing, plain})
            invalid(kind, "outbuf is NULL", [](ucd_move_t &m) { m.outbuf = nullptr; });
        for (const Kind kind : {unpacking, plain})
            invalid(kind, "inbuf is NULL", [](ucd_move_t &m) { m.inbuf = nullptr; });
        for (const Kind kind : {packing, copying})
            refused(UCD_ERR__OVERFLOW, kind, "incount is", UCD_OP__REPLACE,
                    [](ucd_move_t &m) { m.incount = too_many; });
        for (const Kind kind : {unpacking, copying})
            refused(UCD_ERR__OVERFLOW, kind, "outcount is", UCD_OP__REPLACE,
                    [](ucd_move_t &m) { m.outcount = too_many; });
        // Reductions.
        for (const Kind kind : {packing, copying})
            refused(UCD_ERR__INVALID_ARG, kind, "inoffset is 2", UCD_OP__SUM,
                    [](ucd_move_t &m) { m.inoffset = 2; });
        for (const Kind kind : {unpacking, copying})
            refused(UCD_ERR__INVALID_ARG, kind, "outoffset is 2", UCD_OP__SUM,
                    [](ucd_move_t &m) { m.outoffset = 2; });
        for (const Kind kind : {packing, unpacking, copying})
            refused(UCD_ERR__TRUNCATED, kind, "3 bytes", UCD_OP__SUM,
                    [](ucd_move_t &m) { m.bytes = 3; });
        refused(UCD_ERR__NOT_SUPPORTED, packing, "CHAR", UCD_OP__SUM,
                [](ucd_move_t &m) { m.intype = UCD_TYPE__CHAR; });
        refused(UCD_ERR__INVALID_ARG, copying, "other elements", UCD_OP__SUM,
                [](ucd_move_t &m) { m.outtype = UCD_TYPE__FLOAT, m.outcount = 6; });
        refused(UCD_ERR__INVALID_ARG, packing, "by REPLACE only", UCD_OP__SUM,
                [](ucd_move_t &m) { m.intype = UCD_TYPE__NULL; });
        r.bad_ops(c.name, [&](ucd_op_t op) {
            Moves moves(v);
            return c.call(moves.list.data(), moves.list.size(), op);
        });
        r.bad_ops(c.name, [&](ucd_op_t op) { return c.call(nullptr, 0, op); });
        r.invalid(c.name, "count is -1, or ", [&] {
            Moves moves(v);
            return c.call(moves.list.data(), UINTPTR_MAX, UCD_OP__REPLACE);
        });
        r.invalid(c.name, "moves is NULL", [&] { return c.call(nullptr, 1, UCD_OP__REPLACE); });
    }
    // The first wrong member ends the checks, however many are said to follow.
    ucd_move_t one = UCD_MOVE__INIT;
    one.reserved[0] = 1;
    r.invalid("ucd_imove", "moves[0]: reserved", [&] {
        return ucd_imove(&one, UINTPTR_MAX / 2, nullptr, UCD_OP__REPLACE, &r.out.request);
    });
    r.invalid("ucd_imove", "request is NULL",
              [&] { return ucd_imove(nullptr, 0, nullptr, UCD_OP__REPLACE, nullptr); });
    r.invalid("ucd_plan_create", "plan is NULL",
              [&] { return ucd_plan_create(nullptr, 0, nullptr, UCD_OP__REPLACE, nullptr); });
}

TEST_CASE("A side of which nothing is moved may be NULL") {
    const Handle v(make_vector);
    unsigned char data[64] = {};
    for (int side = 0; side < 2; ++side) {
        Moves moves(v);
        for (ucd_move_t &m : moves.list) {
            if (side == 0)
                m.inbuf = nullptr;
            else
                m.outbuf = nullptr;
            m.bytes = 0;
        }
        REQUIRE(ucd_move(moves.list.data(), moves.list.size(), nullptr, UCD_OP__REPLACE) ==
                UCD_SUCCESS);
        for (const ucd_move_t &m : moves.list) CHECK(m.actual_bytes == 0);
    }
    // Nor does a plan need an address for it, or keep one.
    Moves moves(v);
    for (ucd_move_t &m : moves.list) m.bytes = 0;
    ucd_plan_t plan = UCD_PLAN__NULL;
    REQUIRE(ucd_plan_create(moves.list.data(), 4, nullptr, UCD_OP__REPLACE, &plan) == UCD_SUCCESS);
    const void *ins[4] = {};
    void *outs[4] = {};
    CHECK(ucd_plan_rebase(plan, 0, 4, ins, outs) == UCD_SUCCESS);
    ucd_request_t request = UCD_REQUEST__NULL;
    CHECK(ucd_plan_start(plan, &request) == UCD_SUCCESS);
    CHECK(request == UCD_REQUEST__NULL);
    CHECK(ucd_plan_free(&plan) == UCD_SUCCESS);
    // At the end of a stream, nothing is left.
    ucd_move_t at_end = pack_move(data, 1, v, packed, nullptr, 7);
    for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__SUM}) {
        REQUIRE(ucd_move(&at_end, 1, nullptr, op) == UCD_SUCCESS);
        CHECK(at_end.actual_bytes == 0);
    }
}

TEST_CASE("Lists and plans of nothing are complete") {
    ucd_request_t request = UCD_REQUEST__NULL;
    CHECK(ucd_move(nullptr, 0, nullptr, UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(ucd_imove(nullptr, 0, nullptr, UCD_OP__REPLACE, &request) == UCD_SUCCESS);
    CHECK(request == UCD_REQUEST__NULL);
    ucd_plan_t plan = UCD_PLAN__NULL;
    REQUIRE(ucd_plan_create(nullptr, 0, nullptr, UCD_OP__REPLACE, &plan) == UCD_SUCCESS);
    CHECK(plan != UCD_PLAN__NULL);
    CHECK(ucd_plan_start(plan, &request) == UCD_SUCCESS);
    CHECK(request == UCD_REQUEST__NULL);
    CHECK(ucd_plan_rebase(plan, 0, 0, nullptr, nullptr) == UCD_SUCCESS);
    CHECK(ucd_plan_free(&plan) == UCD_SUCCESS);
}

TEST_CASE_METHOD(Refusing, "Plans refuse what is wrong") {
    Moves moves(v);
    ucd_plan_t plan = UCD_PLAN__NULL;
    REQUIRE(ucd_plan_create(moves.list.data(), 4, nullptr, UCD_OP__REPLACE, &plan) == UCD_SUCCESS);
    for (const ucd_move_t &m : moves.list) CHECK(m.actual_bytes == packed);
    const ucd_stream_t nope = {"nope", 0, nullptr, nullptr, 0};
    r.needs("ucd_plan_start", ucd_plan_start, {"plan", "request"}, plan, &r.out.request);
    r.needs("ucd_plan_start_with", ucd_plan_start_with, {"plan", nullptr, nullptr, "request"}, plan,
            nullptr, nullptr, &r.out.request);
    r.needs("ucd_plan_start_with_stream", ucd_plan_start_with_stream,
            {"plan", nullptr, nullptr, nullptr}, plan, nullptr, nullptr, nope);
    r.refused("ucd_plan_start_with_stream", UCD_ERR__NOT_SUPPORTED, "nope",
              [&] { return ucd_plan_start_with_stream(plan, nullptr, nullptr, nope); });
    r.needs("ucd_plan_start_stream", ucd_plan_start_stream, {"plan", nullptr}, plan, nope);
    r.refused("ucd_plan_start_stream", UCD_ERR__NOT_SUPPORTED, "nope",
              [&] { return ucd_plan_start_stream(plan, nope); });
    r.invalid("ucd_plan_start_stream", "backend is NULL",
              [&] { return ucd_plan_start_stream(plan, {}); });
    r.needs("ucd_plan_rebase", ucd_plan_rebase, {"plan", nullptr, nullptr, nullptr, nullptr}, plan,
            0, 0, nullptr, nullptr);
    for (const std::uintptr_t first : {std::uintptr_t{1}, std::uintptr_t{5}, UINTPTR_MAX})
        r.invalid("ucd_plan_rebase", "first is " + std::to_string(first),
                  [&] { return ucd_plan_rebase(plan, first, 4, nullptr, nullptr); });
    const void *ins[4] = {moves.in[0], nullptr, moves.in[2], moves.in[3]};
    void *outs[4] = {nullptr, moves.out[1], moves.out[2], moves.out[3]};
    const auto refused_buffers = [&](const char *words, const void *const *in, void *const *out) {
        r.invalid("ucd_plan_rebase", words, [&] { return ucd_plan_rebase(plan, 0, 4, in, out); });
        r.invalid("ucd_plan_start_with", words,
                  [&] { return ucd_plan_start_with(plan, in, out, &r.out.request); });
    };
    refused_buffers("moves[1]: inbuf is NULL", ins, nullptr);
    ins[1] = moves.in[1];
    ins[3] = nullptr;
    refused_buffers("moves[3]: inbuf is NULL", ins, nullptr);
    refused_buffers("moves[0]: outbuf is NULL", nullptr, outs);
    // It moves what it would have moved.
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(ucd_plan_start(plan, &request) == UCD_SUCCESS);
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    for (int i = 0; i < 4; ++i) CHECK(moves.out[i][0] == i + 1);
    REQUIRE(ucd_plan_free(&plan) == UCD_SUCCESS);
}

} // namespace bad_arguments_plan_test
