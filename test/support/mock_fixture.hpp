// A strided type in one memory and its packed stream in another, for tests of how a move goes about
// rather than of what it moves.
#pragma once

#include "support/mock_buffer.hpp"

#include <cstddef>
#include <cstdint>

namespace ucdtest {

struct StridedMove {
    Case one;
    ReducedSubject what;
    MockBuffer laid_out, packed;
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
          laid_out(one.rng(), what.subject.range, a),
          packed(one.rng(), {0, static_cast<std::intptr_t>(bytes())}, b) {}

    std::size_t bytes() const { return what.subject.size(); }
    ucd_type_t type() const { return what.subject.type(); }
    MockMove move() { return {one, op, what, laid_out, packed, 0, bytes()}; }

    // Set up and started; the status of the call.
    int start_pack() {
        set_up_pack(move());
        return ucd_ipack(laid_out.real_base(), 1, type(), 0, packed.real_base(), bytes(), &actual,
                         UCD_INFO__NULL, op, &request);
    }
    int start_unpack() {
        set_up_unpack(move());
        return ucd_iunpack(packed.real_base(), bytes(), laid_out.real_base(), 1, type(), 0, &actual,
                           UCD_INFO__NULL, op, &request);
    }
    int wait() { return ucd_wait(&request); }
    void check() { check_result(move()); }
    // Frees the type; the move can no longer be started.
    void free_type() { what.subject.built = BuiltType(); }
};

} // namespace ucdtest
