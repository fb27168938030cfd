// MAX, MIN, MAXLOC and MINLOC of NaN and of zeros of both signs, as ucd.h promises: out keeps its
// bits.
#include "support/catch.hpp"
#include "support/moves/move_now.hpp"

#include <ucd.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace nan_test {

namespace {

// Of one type, as bits: a NaN, another one, one, and zeros.
template <class Bits>
struct Values {
    ucd_type_t type;
    Bits nan, other_nan, one, zero, minus_zero;
};
const Values<std::uint16_t> float16{UCD_TYPE__FLOAT16, 0x7e01, 0xfe02, 0x3c00, 0, 0x8000};
const Values<std::uint16_t> bfloat16{UCD_TYPE__BFLOAT16, 0x7fc1, 0xffc2, 0x3f80, 0, 0x8000};
const Values<std::uint8_t> e4m3{UCD_TYPE__FLOAT8_E4M3, 0x7f, 0xff, 0x38, 0, 0x80};
const Values<std::uint8_t> e5m2{UCD_TYPE__FLOAT8_E5M2, 0x7d, 0xfe, 0x3c, 0, 0x80};
const Values<std::uint32_t> float32{
    UCD_TYPE__FLOAT, 0x7fc00001, 0xffc00002, std::bit_cast<std::uint32_t>(1.0F), 0, 1U << 31};
const Values<std::uint64_t> float64{
    UCD_TYPE__DOUBLE, 0x7ff8000000000001, 0xfff8000000000002, std::bit_cast<std::uint64_t>(1.0), 0,
    1ULL << 63};

constexpr std::size_t elements = 1000; // enough for kernels that take many at a time

// Unpacks with op into elements that are `stride` apart, and looks whether any has changed.
template <class Bits>
void check_out_stays(const Values<Bits> &v, ucd_op_t op, intptr_t stride) {
    const Bits cases[][2] = {{v.nan, v.one},  {v.one, v.nan},         {v.nan, v.other_nan},
                             {v.nan, v.zero}, {v.zero, v.minus_zero}, {v.minus_zero, v.zero},
                             {v.zero, v.nan}, {v.one, v.one}};
    std::vector<Bits> in(elements), out(elements * static_cast<std::size_t>(stride));
    for (std::size_t i = 0; i < elements; ++i) {
        const auto &one = cases[i % std::size(cases)];
        out[i * static_cast<std::size_t>(stride)] = one[0];
        in[i] = one[1];
    }
    const std::vector<Bits> before = out;
    ucd_type_t type;
    REQUIRE(ucd_create_vector(elements, 1, stride, v.type, UCD_INFO__NULL, &type) == UCD_SUCCESS);
    CHECK(ucdtest::unpack_now(in.data(), elements * sizeof(Bits), out.data(), 1, type, 0,
                              UCD_INFO__NULL, op) == elements * sizeof(Bits));
    CHECK(out == before);
    REQUIRE(ucd_free(&type) == UCD_SUCCESS);
}

} // namespace

TEST_CASE("MAX and MIN leave out as it is where a value is no number, and between zeros") {
    for (const ucd_op_t op : {UCD_OP__MAX, UCD_OP__MIN}) {
        for (const intptr_t stride : {1, 3}) {
            check_out_stays(float16, op, stride);
            check_out_stays(bfloat16, op, stride);
            check_out_stays(e4m3, op, stride);
            check_out_stays(e5m2, op, stride);
            check_out_stays(float32, op, stride);
            check_out_stays(float64, op, stride);
        }
    }
}

TEST_CASE("MAXLOC and MINLOC leave out as it is where a value is no number") {
    struct Pair {
        double value;
        int index;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const ucd_op_t op : {UCD_OP__MAXLOC, UCD_OP__MINLOC}) {
        Pair out[] = {{nan, 7}, {1, 7}, {nan, 7}};
        const Pair in[] = {{1, 3}, {nan, 3}, {nan, 3}};
        unsigned char packed[3 * 12];
        uintptr_t bytes;
        REQUIRE(ucd_pack(in, 3, UCD_TYPE__DOUBLE_INT, 0, packed, sizeof packed, &bytes,
                         UCD_INFO__NULL, UCD_OP__REPLACE) == UCD_SUCCESS);
        ucdtest::unpack_now(packed, bytes, out, 3, UCD_TYPE__DOUBLE_INT, 0, UCD_INFO__NULL, op);
        for (const Pair &pair : out) CHECK(pair.index == 7);
        CHECK(out[1].value == 1);
    }
}

} // namespace nan_test
