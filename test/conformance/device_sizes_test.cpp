// How many bytes a member of a list says that it took of the input's stream and wrote to the
// output's: for each kind of move, whatever limits it, in every form of call, on the host and on
// whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/moves/strided_move.hpp"

#include <string>
#include <vector>

namespace device_sizes_test {

using namespace ucdtest;
using enum ucdtest::Memory;

namespace {

const ucd_type_t none = UCD_TYPE__NULL;
constexpr std::uintptr_t all = UINTPTR_MAX;

struct Sized {
    const char *what;
    ucd_op_t op;
    std::uintptr_t incount;
    ucd_type_t intype;
    std::uintptr_t inoffset, outcount;
    ucd_type_t outtype;
    std::uintptr_t outoffset, bytes;
    std::uintptr_t consumed, written;
};

// With objects of the type, which has eight ints.
std::vector<Sized> sized_moves(ucd_type_t v) {
    const ucd_op_t replace = UCD_OP__REPLACE, sum = UCD_OP__SUM, convert = UCD_OP__CONVERT;
    return {
        {"a pack", replace, 2, v, 0, 64, none, 0, all, 64, 64},
        {"a pack, limited by its room", replace, 2, v, 8, 40, none, 0, all, 40, 40},
        {"a pack, limited by its input", replace, 2, v, 40, 64, none, 0, all, 24, 24},
        {"a pack of some bytes", replace, 2, v, 4, 64, none, 0, 10, 10, 10},
        {"a pack of no bytes", replace, 2, v, 0, 64, none, 0, 0, 0, 0},
        {"a pack with SUM", sum, 2, v, 4, 64, none, 0, 10, 8, 8},
        {"an unpack", replace, 64, none, 0, 2, v, 0, all, 64, 64},
        {"an unpack, limited by its input", replace, 24, none, 0, 2, v, 0, all, 24, 24},
        {"an unpack, limited by its output", replace, 64, none, 0, 2, v, 48, all, 16, 16},
        {"an unpack of some bytes", replace, 64, none, 0, 2, v, 4, 10, 10, 10},
        {"an unpack of no bytes", replace, 64, none, 0, 2, v, 0, 0, 0, 0},
        {"a copy", replace, 2, v, 0, 16, UCD_TYPE__INT, 0, all, 64, 64},
        {"a copy, limited by its output", replace, 2, v, 0, 10, UCD_TYPE__INT, 0, all, 40, 40},
        {"a copy, limited by its input", replace, 1, v, 4, 16, UCD_TYPE__INT, 8, all, 28, 28},
        {"a copy of some bytes", replace, 2, v, 3, 16, UCD_TYPE__INT, 1, 9, 9, 9},
        {"a copy of no bytes", replace, 2, v, 0, 16, UCD_TYPE__INT, 0, 0, 0, 0},
        {"a copy with SUM", sum, 2, v, 0, 16, UCD_TYPE__INT, 8, 11, 8, 8},
        {"bytes to bytes", replace, 64, none, 0, 64, none, 0, all, 64, 64},
        {"bytes, limited by the output", replace, 64, none, 0, 30, none, 0, all, 30, 30},
        {"bytes, limited by the input", replace, 20, none, 0, 64, none, 0, all, 20, 20},
        {"some bytes", replace, 64, none, 0, 64, none, 0, 5, 5, 5},
        {"no bytes", replace, 64, none, 0, 64, none, 0, 0, 0, 0},
        {"a conversion", convert, 2, v, 0, 16, UCD_TYPE__DOUBLE, 0, all, 64, 128},
        {"a conversion, limited by its output", convert, 2, v, 0, 5, UCD_TYPE__DOUBLE, 0, all, 20,
         40},
        {"a conversion, limited by its input", convert, 2, v, 48, 16, UCD_TYPE__DOUBLE, 0, all, 16,
         32},
        {"a conversion of some bytes", convert, 2, v, 4, 16, UCD_TYPE__DOUBLE, 8, 11, 8, 16},
        {"a conversion to less", convert, 2, v, 0, 32, UCD_TYPE__INT8_T, 3, all, 64, 16},
        {"a conversion at the end", convert, 2, v, 64, 16, UCD_TYPE__DOUBLE, 0, all, 0, 0},
    };
}

// Every form of call.
int call(int form, MoveList &moves, ucd_op_t op, mock::Stream &stream) {
    if (form == 0) return ucd_move(moves.data(), moves.size(), UCD_INFO__NULL, op);
    if (form == 1) return move_all(moves, UCD_INFO__NULL, op);
    if (form == 2) {
        ucd_plan_t plan = UCD_PLAN__NULL;
        const int rc = ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, op, &plan);
        return rc == UCD_SUCCESS ? ucd_plan_free(&plan) : rc;
    }
    const int rc = start_in(stream, moves, UCD_INFO__NULL, op);
    stream.synchronise();
    return rc;
}

} // namespace

TEST_CASE("members tell what they took and what they wrote, unless their list is refused") {
    DeviceSession session;
    mock::Stream stream(0);
    int converts = 0; // in streams
    REQUIRE(ucd_op_is_supported(UCD_OP__CONVERT, UCD_TYPE__INT, mock::backend.name, &converts) ==
            UCD_SUCCESS);
    const BuiltType type(recipes::vector(4, 2, 4, recipes::leaf(UCD_TYPE__INT)));
    for (const Memory memory : {pageable, device0}) {
        Rng rng(1);
        DeviceBuffer in(rng, {0, 128}, memory), out(rng, {0, 128}, memory);
        const std::vector<int> zeros(32);
        for (const DeviceBuffer *buffer : {&in, &out})
            mock::write(buffer->real_base(), zeros.data(), 128);
        for (const Sized &s : sized_moves(type.get()))
            for (int form = 0; form < (memory == device0 ? 4 : 3); ++form) {
                INFO(s.what << " in " << name_of(memory) << ", form " << form);
                if (form == 3 && s.op == UCD_OP__CONVERT && !converts) continue;
                MoveList moves = {part_move(in.real_base(), s.incount, s.intype, s.inoffset,
                                            out.real_base(), s.outcount, s.outtype, s.outoffset,
                                            s.bytes)};
                moves[0].actual_bytes = moves[0].consumed_bytes = untouched;
                MoveList refused(2, moves[0]);
                refused[1].reserved[form] = 1;
                CHECK(call(form, refused, s.op, stream) == UCD_ERR__INVALID_ARG);
                for (const ucd_move_t &m : refused)
                    CHECK((m.actual_bytes == untouched && m.consumed_bytes == untouched));
                CHECK(call(form, moves, s.op, stream) == UCD_SUCCESS);
                CHECK(moves[0].consumed_bytes == s.consumed);
                CHECK(moves[0].actual_bytes == s.written);
            }
    }
}

} // namespace device_sizes_test
