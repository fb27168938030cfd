// A strided type in one memory and its packed stream in another, for tests of how a move goes about
// rather than of what it moves.
#pragma once

#include "support/catch.hpp"
#include "support/moves/device_moves.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ucdtest {

struct StridedMove {
    Case one;
    ReducedSubject what;
    DeviceBuffer typed, packed;
    ucd_op_t op = UCD_OP__REPLACE;
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;

    // `ints` of them, every other one of an array.
    StridedMove(const char *test, std::size_t ints, Memory a, Memory b)
        : one(test, 0),
          what(with_elements(make_subject(
              one,
              recipes::vector(static_cast<std::intptr_t>(ints), 1, 2, recipes::leaf(UCD_TYPE__INT)),
              1))),
          typed(one.rng(), what.subject.range, a),
          packed(one.rng(), {0, static_cast<std::intptr_t>(bytes())}, b) {}

    std::size_t bytes() const { return what.subject.size(); }
    ucd_type_t type() const { return what.subject.type(); }
    DeviceMove move() { return {one, op, what, typed, packed, 0, bytes()}; }

    // Set up and started; the status of the call.
    int start_pack() {
        set_up_pack(move());
        return ucd_ipack(typed.real_base(), 1, type(), 0, packed.real_base(), bytes(), &actual,
                         UCD_INFO__NULL, op, &request);
    }
    int start_unpack() {
        set_up_unpack(move());
        return ucd_iunpack(packed.real_base(), bytes(), typed.real_base(), 1, type(), 0, &actual,
                           UCD_INFO__NULL, op, &request);
    }
    int wait() { return ucd_wait(&request); }
    void check() { check_result(move()); }
    // Frees the type; the move can no longer be started.
    void free_type() { what.subject.built = BuiltType(); }
};

// A pack that returns while the device has not begun, and is right in the end.
inline void check_returns_at_once(const RecipePtr &recipe, ucd_op_t op, Memory a, Memory b) {
    Case one("nonblocking", 0);
    const ReducedSubject what = with_elements(make_subject(one, recipe, 1));
    const std::size_t size = what.subject.size();
    DeviceBuffer typed(one.rng(), what.subject.range, a);
    DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(size)}, b);
    const DeviceMove move{one, op, what, typed, packed, 0, size};
    set_up_pack(move);
    mock::hold();
    std::uintptr_t actual = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    REQUIRE(ucd_ipack(typed.real_base(), 1, what.subject.type(), 0, packed.real_base(), size,
                      &actual, UCD_INFO__NULL, op, &request) == UCD_SUCCESS);
    int completed = 1;
    REQUIRE(ucd_test(&request, &completed) == UCD_SUCCESS);
    CHECK(completed == 0);
    mock::let_go();
    REQUIRE(ucd_wait(&request) == UCD_SUCCESS);
    check_result(move);
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
        REQUIRE(move.start_pack() == UCD_SUCCESS);
        REQUIRE(move.wait() == UCD_SUCCESS);
        move.check();
        CHECK(mock::counts.launches == 1);
        CHECK(mock::counts.copies == 0);
        // Unless they are not to.
        REQUIRE(setenv("UCD_PEERS", "none", 1) == 0);
        REQUIRE(ucd_finalize() == UCD_SUCCESS);
        REQUIRE(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        REQUIRE(unsetenv("UCD_PEERS") == 0);
        mock::counts.launches = mock::counts.copies = 0;
        REQUIRE(move.start_pack() == UCD_SUCCESS);
        REQUIRE(move.wait() == UCD_SUCCESS);
        move.check();
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
