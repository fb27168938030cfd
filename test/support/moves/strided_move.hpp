// All of a subject in one memory and its packed stream in another, for tests of how a move goes
// about rather than of what it moves.
#pragma once

#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

namespace ucdtest {

struct WholeMove {
    Case one;
    ReducedSubject what;
    DeviceBuffer typed, packed;
    ucd_op_t op;
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;

    WholeMove(const char *test, const RecipePtr &recipe, Memory a, Memory b,
              ucd_op_t o = UCD_OP__REPLACE, std::size_t count = 1, std::uint64_t number = 0)
        : one(test, number), what(with_elements(make_subject(one, recipe, count))),
          typed(one.rng(), what.subject.range, a),
          packed(one.rng(), {0, static_cast<std::intptr_t>(bytes())}, b), op(o) {}

    std::size_t bytes() const { return what.subject.size(); }
    ucd_type_t type() const { return what.subject.type(); }
    DeviceMove move() { return part(0, bytes()); }
    DeviceMove part(std::size_t offset, std::size_t length) {
        return {one, op, what, typed, packed, offset, length};
    }

    // Set up and started; the status of the call.
    int start_pack(ucd_info_t info = UCD_INFO__NULL) {
        set_up_pack(move());
        return ucd_ipack(typed.real_base(), what.subject.count, type(), 0, packed.real_base(),
                         bytes(), &actual, info, op, &request);
    }
    int start_unpack(ucd_info_t info = UCD_INFO__NULL) {
        set_up_unpack(move());
        return ucd_iunpack(packed.real_base(), bytes(), typed.real_base(), what.subject.count,
                           type(), 0, &actual, info, op, &request);
    }
    int wait() { return ucd_wait(&request); }
    void check() { check_result(move()); }
    void wait_and_check() {
        REQUIRE(wait() == UCD_SUCCESS);
        check();
    }
    void pack_and_check(ucd_info_t info = UCD_INFO__NULL) {
        REQUIRE(start_pack(info) == UCD_SUCCESS);
        wait_and_check();
    }
    void unpack_and_check() {
        REQUIRE(start_unpack() == UCD_SUCCESS);
        wait_and_check();
    }
    // Frees the type; the move can no longer be started.
    void free_type() { what.subject.built = BuiltType(); }
};

// So many ints, every other one of an array.
struct StridedMove : WholeMove {
    StridedMove(const char *test, std::size_t number, Memory a, Memory b)
        : WholeMove(test,
                    recipes::vector(static_cast<std::intptr_t>(number), 1, 2,
                                    recipes::leaf(UCD_TYPE__INT)),
                    a, b) {}
};

// Several, each of another length, for lists.
struct StridedMoves {
    std::list<StridedMove> all;

    void add(std::size_t members, Memory a, Memory b) {
        for (std::size_t i = 0; i < members; ++i)
            all.emplace_back("one of several", 1 + all.size() % 20, a, b);
    }
    void set_up(bool packs = true) {
        for (StridedMove &m : all) ucdtest::set_up(m.move(), packs);
    }
    MoveList list(bool packs = true) {
        MoveList moves;
        for (StridedMove &m : all) moves.push_back((packs ? pack_of : unpack_of)(m.move()));
        return moves;
    }
    void check() {
        for (StridedMove &m : all) m.check();
    }
};

// A pack that returns while the device has not begun, and is right in the end.
inline void check_returns_at_once(const RecipePtr &recipe, ucd_op_t op, Memory a, Memory b) {
    WholeMove move("nonblocking", recipe, a, b, op);
    mock::hold();
    REQUIRE(move.start_pack() == UCD_SUCCESS);
    int completed = 1;
    REQUIRE(ucd_test(&move.request, &completed) == UCD_SUCCESS);
    CHECK(completed == 0);
    mock::let_go();
    move.wait_and_check();
}

// Between two devices that reach each other's memory: one launch, and no chunk.
inline void check_peers_are_reached(ucd_op_t op) {
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    mock::knobs.peers = true;
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
    {
        StridedMove move("peers", 700, Memory::device0, Memory::device1);
        move.op = op;
        mock::counts.launches = mock::counts.copies = 0;
        move.pack_and_check();
        CHECK(mock::counts.launches == 1);
        CHECK(mock::counts.copies == 0);
        // Unless they are not to.
        REQUIRE(setenv("UCD_PEERS", "none", 1) == 0);
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        REQUIRE(unsetenv("UCD_PEERS") == 0);
        mock::counts.launches = mock::counts.copies = 0;
        move.pack_and_check();
        CHECK(mock::counts.launches + mock::counts.copies > 1); // by way of a chunk
    }
    REQUIRE(ucd_finalize() == UCD_SUCCESS);
    CHECK(mock::counts.live_allocations == 0);
    mock::reset();
    REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
}

inline ucd_stream_t native(mock::Stream &stream) {
    return {mock::backend.name, stream.device(), &stream, nullptr, 0};
}

// A pack or an unpack in stream order: the status of the call.
inline int pack_in(const ucd_stream_t &stream, const DeviceMove &m,
                   ucd_info_t info = UCD_INFO__NULL) {
    const Subject &s = m.what.subject;
    std::uintptr_t actual = untouched;
    const int rc = ucd_pack_stream(m.typed.real_base(), s.count, s.type(), m.offset,
                                   m.packed.real_base(), m.length, &actual, info, m.op, stream);
    CHECK(actual == (rc == UCD_SUCCESS ? m.length : untouched));
    return rc;
}
inline int unpack_in(const ucd_stream_t &stream, const DeviceMove &m) {
    const Subject &s = m.what.subject;
    std::uintptr_t actual = untouched;
    const int rc = ucd_unpack_stream(m.packed.real_base(), m.length, m.typed.real_base(), s.count,
                                     s.type(), m.offset, &actual, UCD_INFO__NULL, m.op, stream);
    CHECK(actual == (rc == UCD_SUCCESS ? m.length : untouched));
    return rc;
}
inline void finish_in(mock::Stream &stream) {
    stream.synchronise();
    CHECK(stream.failure() == "");
}
inline void prepare(mock::Stream &stream, ucd_type_t type, ucd_op_t op = UCD_OP__REPLACE) {
    REQUIRE(ucd_prepare(1, type, op, native(stream), UCD_INFO__NULL) == UCD_SUCCESS);
}

inline int start_in(mock::Stream &stream, MoveList &moves, ucd_info_t info = UCD_INFO__NULL,
                    ucd_op_t op = UCD_OP__REPLACE) {
    return ucd_move_stream(moves.data(), moves.size(), info, op, native(stream));
}
inline int start_in(mock::Stream &stream, MoveList &&moves, ucd_info_t info = UCD_INFO__NULL) {
    return start_in(stream, moves, info);
}

inline bool last_error_says(const char *part) {
    return std::string(ucd_last_error()).find(part) != std::string::npos;
}

} // namespace ucdtest
