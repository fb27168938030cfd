// Conversions while moving: any layout to any layout, parts of streams, and what is refused.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/keys.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/converting.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/move_now.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace convert_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

TEST_CASE("any layout is converted into any layout of other elements") {
    run_cases("convert", 8000,
              [](Case &one) { check_conversion(one, random_converted_pair(one)); });
}

TEST_CASE("any elements are converted to any place") {
    run_cases("convert ranges", 8000, [](Case &one) {
        Rng &rng = one.rng();
        const ConvertedPair pair = random_converted_pair(one);
        const std::size_t elements = pair.source.elements.size();
        if (elements == 0) return;
        // A range of the source, cut within an element, to where the target has the same kinds.
        const std::size_t first = rng.below(elements);
        const std::size_t last = first + 1 + rng.below(elements - first);
        const std::size_t from_offset = pair.source.offset_of(first);
        const std::size_t bytes = pair.source.offset_of(last) - from_offset;
        const std::size_t slack =
            last < elements
                ? rng.below(pair.source.offset_of(last + 1) - pair.source.offset_of(last))
                : rng.below(100);
        GuardedBuffer in(rng, pair.source.subject.range), out(rng, pair.target.subject.range);
        const MemoryLocation from = place(pair.source.subject, in),
                             to = place(pair.target.subject, out);
        expect_converted(pair, from, first, to, first, last - first, false);
        const ucd_move_t move =
            part_move(from.address, from.count, from.type, from_offset, to.address, to.count,
                      to.type, pair.target.offset_of(first), bytes + slack);
        std::uintptr_t actual = untouched, consumed = untouched;
        one.succeed(call_move(rng, move, &actual, UCD_INFO__NULL, UCD_OP__CONVERT, true, &consumed),
                    "converting move");
        if (consumed != bytes) one.fail("took ", consumed, " bytes, not ", bytes);
        const std::size_t written = pair.target.offset_of(last) - pair.target.offset_of(first);
        if (actual != written) one.fail("wrote ", actual, " bytes, not ", written);
        require_intact(one, out, "target of a conversion");
        require_intact(one, in, "source of a conversion");
    });
}

namespace {

int convert(ucd_move_t &move, ucd_op_t op = UCD_OP__CONVERT) {
    alignas(16) static char in[4096], out[4096];
    move.inbuf = in;
    move.outbuf = out;
    move.actual_bytes = move.consumed_bytes = untouched;
    return ucd_move(&move, 1, UCD_INFO__NULL, op);
}

} // namespace

TEST_CASE("how much is converted") {
    constexpr std::uintptr_t all = UINTPTR_MAX;
    const struct {
        ucd_type_t from;
        std::uintptr_t count, offset;
        ucd_type_t to;
        std::uintptr_t out_count, out_offset, bytes, consumed, written;
    } cases[] = {
        // The side with fewer elements limits the move.
        {UCD_TYPE__FLOAT, 10, 0, UCD_TYPE__BFLOAT16, 10, 0, all, 40, 20},
        {UCD_TYPE__FLOAT, 10, 0, UCD_TYPE__DOUBLE, 7, 0, all, 28, 56},
        {UCD_TYPE__FLOAT8_E5M2, 3, 0, UCD_TYPE__DOUBLE, 7, 0, all, 3, 24},
        {UCD_TYPE__C_COMPLEX, 3, 0, UCD_TYPE__C_DOUBLE_COMPLEX, 7, 0, all, 24, 48},
        // `bytes` counts the input, and is rounded down.
        {UCD_TYPE__FLOAT, 10, 8, UCD_TYPE__DOUBLE, 10, 16, 11, 8, 16},
        // At the end of a side, nothing is left.
        {UCD_TYPE__FLOAT, 10, 40, UCD_TYPE__DOUBLE, 10, 0, all, 0, 0},
        {UCD_TYPE__FLOAT, 10, 0, UCD_TYPE__DOUBLE, 10, 80, all, 0, 0},
        {UCD_TYPE__FLOAT, 0, 0, UCD_TYPE__DOUBLE, 10, 0, all, 0, 0},
    };
    for (const auto &c : cases) {
        INFO("case " << &c - cases);
        ucd_move_t move = part_move(nullptr, c.count, c.from, c.offset, nullptr, c.out_count, c.to,
                                    c.out_offset, c.bytes);
        CHECK(convert(move) == UCD_SUCCESS);
        CHECK(move.consumed_bytes == c.consumed);
        CHECK(move.actual_bytes == c.written);
    }
    ucd_move_t too_little =
        part_move(nullptr, 10, UCD_TYPE__FLOAT, 8, nullptr, 10, UCD_TYPE__DOUBLE, 16, 3);
    CHECK(convert(too_little) == UCD_ERR__TRUNCATED);
    CHECK((too_little.actual_bytes == untouched && too_little.consumed_bytes == untouched));
    // A copy is of all of the input.
    float in[4] = {1, 2, 3, 4};
    double out[4] = {};
    std::uintptr_t actual = untouched;
    CHECK(ucd_copy(in, 4, UCD_TYPE__FLOAT, out, 3, UCD_TYPE__DOUBLE, &actual, UCD_INFO__NULL,
                   UCD_OP__CONVERT) == UCD_ERR__TRUNCATED);
    CHECK(actual == untouched);
    CHECK(copy_now(in, 3, UCD_TYPE__FLOAT, out, 4, UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                   UCD_OP__CONVERT) == 24);
    CHECK((out[0] == 1 && out[1] == 2 && out[2] == 3 && out[3] == 0));
}

TEST_CASE("what is not converted") {
    std::uintptr_t actual = untouched;
    for (const ucd_op_t op : {UCD_OP__CONVERT, UCD_OP__CONVERT_SAT}) {
        // A packed side has no elements.
        char bytes[64] = {};
        CHECK(ucd_pack(bytes, 4, UCD_TYPE__FLOAT, 0, bytes + 32, 32, &actual, UCD_INFO__NULL, op) ==
              UCD_ERR__INVALID_ARG);
        CHECK(ucd_unpack(bytes, 16, bytes + 32, 4, UCD_TYPE__FLOAT, 0, &actual, UCD_INFO__NULL,
                         op) == UCD_ERR__INVALID_ARG);
        const ucd_type_t none = UCD_TYPE__NULL, wide = UCD_TYPE__DOUBLE;
        for (ucd_move_t move : {copy_move(nullptr, 16, none, nullptr, 4, wide),
                                copy_move(nullptr, 4, wide, nullptr, 16, none),
                                copy_move(nullptr, 4, none, nullptr, 4, none),
                                // Offsets within elements of their own side.
                                part_move(nullptr, 4, wide, 4, nullptr, 4, wide, 0),
                                part_move(nullptr, 4, wide, 0, nullptr, 4, wide, 4)})
            CHECK(convert(move, op) == UCD_ERR__INVALID_ARG);
    }
    for (const Predefined &from : all_predefined())
        for (const Predefined &to : all_predefined()) {
            INFO(from.name << " to " << to.name);
            const int status = is_converted(from, to) ? UCD_SUCCESS : UCD_ERR__NOT_SUPPORTED;
            ucd_move_t move = copy_move(nullptr, 3, from.handle, nullptr, 3, to.handle);
            CHECK(convert(move) == status);
        }
}

TEST_CASE("whether a conversion is supported is answered for the way to FLOAT") {
    for (const Predefined &type : all_predefined())
        for (const ucd_op_t op : {UCD_OP__CONVERT, UCD_OP__CONVERT_SAT}) {
            int supported = -1;
            INFO(type.name);
            CHECK(ucd_op_is_supported(op, type.handle, "seq", &supported) == UCD_SUCCESS);
            CHECK(supported == is_converted(type, predefined(UCD_TYPE__FLOAT)));
        }
}

TEST_CASE("members of a list are converted each in its way") {
    const float in[3] = {1.5f, -2.0f, 1e30f};
    std::uint16_t half[3] = {};
    std::int32_t integers[3] = {};
    ucd_move_t moves[2] = {copy_move(in, 3, UCD_TYPE__FLOAT, half, 3, UCD_TYPE__FLOAT16),
                           copy_move(in, 3, UCD_TYPE__FLOAT, integers, 3, UCD_TYPE__INT32_T)};
    REQUIRE(ucd_move(moves, 2, UCD_INFO__NULL, UCD_OP__CONVERT_SAT) == UCD_SUCCESS);
    CHECK((half[0] == 0x3e00 && half[1] == 0xc000 && half[2] == 0x7bff));
    CHECK((integers[0] == 1 && integers[1] == -2 && integers[2] == INT32_MAX));
    CHECK((moves[0].actual_bytes == 6 && moves[1].actual_bytes == 12));
    // A wrong member: none starts.
    moves[1].outtype = UCD_TYPE__BYTE;
    half[0] = 7;
    CHECK(ucd_move(moves, 2, UCD_INFO__NULL, UCD_OP__CONVERT) == UCD_ERR__NOT_SUPPORTED);
    CHECK(half[0] == 7);
}

TEST_CASE("large conversions by several threads give the same bits") {
    const Keys info({{"ucd.threads", "3"}});
    Rng rng(mix_seed(session_seed(), "threads"));
    const std::size_t count = 1'000'003;
    std::vector<float> in(count);
    for (float &value : in) {
        const auto bits = static_cast<std::uint32_t>(rng.bits());
        std::memcpy(&value, &bits, 4);
    }
    std::vector<std::uint16_t> out(count), alone(count);
    copy_now(in.data(), count, UCD_TYPE__FLOAT, out.data(), count, UCD_TYPE__BFLOAT16, info,
             UCD_OP__CONVERT);
    copy_now(in.data(), count, UCD_TYPE__FLOAT, alone.data(), count, UCD_TYPE__BFLOAT16,
             UCD_INFO__NULL, UCD_OP__CONVERT);
    CHECK(out == alone);
}

} // namespace convert_test
