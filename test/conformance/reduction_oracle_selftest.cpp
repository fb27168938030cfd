// The reduction oracle against values worked out by hand. Needs no library.
#include "support/catch.hpp"

#include "support/oracle/small_float.hpp"
#include "support/random/reduction_values.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace reduction_oracle_selftest {

using namespace ucdtest;

namespace {

template <class T>
T reduced(ucd_op_t op, ucd_type_t type, T out, T in) {
    // At an odd address, as elements of packed streams are.
    std::byte bytes[2 * sizeof(T) + 1];
    std::memcpy(bytes + 1, &out, sizeof out);
    std::memcpy(bytes + 1 + sizeof out, &in, sizeof in);
    reduce_element(op, predefined(type), bytes + 1, bytes + 1 + sizeof out);
    std::memcpy(&out, bytes + 1, sizeof out);
    return out;
}

template <class V>
struct PackedPair {
    V value;
    int index;
};

} // namespace

TEST_CASE("reduction oracle: integers wrap and compare by their signedness") {
    REQUIRE(reduced<std::int8_t>(UCD_OP__SUM, UCD_TYPE__INT8_T, 127, 1) == -128);
    REQUIRE(reduced<short>(UCD_OP__PROD, UCD_TYPE__SHORT, 300, 300) == 24464);
    REQUIRE(reduced<std::uint16_t>(UCD_OP__PROD, UCD_TYPE__UINT16_T, 65535, 65535) == 1);
    REQUIRE(reduced<std::int64_t>(UCD_OP__SUM, UCD_TYPE__INT64_T,
                                  std::numeric_limits<std::int64_t>::max(),
                                  1) == std::numeric_limits<std::int64_t>::min());
    REQUIRE(reduced<int>(UCD_OP__MAX, UCD_TYPE__INT, -1, 1) == 1);
    REQUIRE(reduced<unsigned>(UCD_OP__MAX, UCD_TYPE__UNSIGNED, 0xffffffffu, 1) == 0xffffffffu);
    REQUIRE(reduced<int>(UCD_OP__MIN, UCD_TYPE__INT, -1, 1) == -1);
    REQUIRE(reduced<signed char>(UCD_OP__MIN, UCD_TYPE__SIGNED_CHAR, -1, 1) == -1);
    REQUIRE(reduced<unsigned char>(UCD_OP__MIN, UCD_TYPE__UNSIGNED_CHAR, 255, 1) == 1);
}

TEST_CASE("reduction oracle: logical and bitwise operations") {
    REQUIRE(reduced<int>(UCD_OP__LAND, UCD_TYPE__INT, 4, 2) == 1);
    REQUIRE(reduced<int>(UCD_OP__LAND, UCD_TYPE__INT, 4, 0) == 0);
    REQUIRE(reduced<int>(UCD_OP__LOR, UCD_TYPE__INT, 0, -7) == 1);
    REQUIRE(reduced<int>(UCD_OP__LXOR, UCD_TYPE__INT, 4, 2) == 0);
    REQUIRE(reduced<int>(UCD_OP__LXOR, UCD_TYPE__INT, 0, 2) == 1);
    REQUIRE(reduced<bool>(UCD_OP__LXOR, UCD_TYPE___BOOL, true, true) == false);
    REQUIRE(reduced<std::uint8_t>(UCD_OP__BAND, UCD_TYPE__BYTE, 0xf0, 0x3c) == 0x30);
    REQUIRE(reduced<std::uint8_t>(UCD_OP__BOR, UCD_TYPE__BYTE, 0xf0, 0x0c) == 0xfc);
    REQUIRE(reduced<long>(UCD_OP__BXOR, UCD_TYPE__LONG, -1, 1) == -2);
}

TEST_CASE("reduction oracle: floating point and complex") {
    REQUIRE(reduced<float>(UCD_OP__PROD, UCD_TYPE__FLOAT, 1.5f, -2.0f) == -3.0f);
    REQUIRE(reduced<double>(UCD_OP__MAX, UCD_TYPE__DOUBLE, -1.5, -2.0) == -1.5);
    REQUIRE(reduced<long double>(UCD_OP__SUM, UCD_TYPE__LONG_DOUBLE, 0.25L, 0.5L) == 0.75L);
    const auto product =
        reduced<Complex<double>>(UCD_OP__PROD, UCD_TYPE__C_DOUBLE_COMPLEX, {1.0, 2.0}, {3.0, -4.0});
    REQUIRE((product.re == 11.0 && product.im == 2.0));
}

TEST_CASE("reduction oracle: locations, ties to the lowest index") {
    using DI = PackedPair<double>;
    // Packed: 12 bytes. The struct's own padding lies behind them.
    const auto max = [](DI out, DI in) {
        std::byte a[12], b[12];
        std::memcpy(a, &out.value, 8), std::memcpy(a + 8, &out.index, 4);
        std::memcpy(b, &in.value, 8), std::memcpy(b + 8, &in.index, 4);
        reduce_element(UCD_OP__MAXLOC, predefined(UCD_TYPE__DOUBLE_INT), a, b);
        std::memcpy(&out.value, a, 8), std::memcpy(&out.index, a + 8, 4);
        return out;
    };
    REQUIRE(max({1.0, 7}, {2.0, 9}).index == 9);
    REQUIRE(max({2.0, 7}, {1.0, 3}).index == 7);
    REQUIRE(max({2.0, 7}, {2.0, 3}).index == 3);
    REQUIRE(max({2.0, -7}, {2.0, 3}).index == -7);
    const auto min = reduced<Pair<int, int>>(UCD_OP__MINLOC, UCD_TYPE__2INT, {5, 1}, {4, 2});
    REQUIRE((min.value == 4 && min.index == 2));
    const auto tie = reduced<Pair<float, float>>(UCD_OP__MINLOC, UCD_TYPE__2FLOAT, {4, 2}, {4, 1});
    REQUIRE((tie.value == 4 && tie.index == 1));
}

TEST_CASE("reduction oracle: binary16 rounds to nearest, ties to even") {
    REQUIRE(to_float(Half{0x3c00}) == 1.0f);
    REQUIRE(to_float(Half{0xc000}) == -2.0f);
    REQUIRE(to_float(Half{0x7bff}) == 65504.0f);
    REQUIRE(to_float(Half{0x0001}) == std::ldexp(1.0f, -24));
    REQUIRE(half_from(65519.0f).bits == 0x7bff);
    REQUIRE(half_from(65520.0f).bits == 0x7c00);
    REQUIRE(half_from(-INFINITY).bits == 0xfc00);
    REQUIRE(half_from(std::ldexp(1.0f, -25)).bits == 0);
    REQUIRE(half_from(std::ldexp(1.1f, -25)).bits == 1);
    REQUIRE(half_from(1.0f + std::ldexp(1.0f, -11)).bits == 0x3c00);
    REQUIRE(half_from(1.0f + std::ldexp(3.0f, -11)).bits == 0x3c02);
    bool good = true;
    for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
        const auto next = static_cast<std::uint16_t>(bits + 1);
        const float low = to_float(Half{bits}), high = to_float(Half{next});
        const float middle = (low + high) / 2;
        good = good && half_from(low).bits == bits && half_from(-low).bits == (bits | 0x8000);
        good = good && half_from(middle).bits == (bits % 2 == 0 ? bits : next);
        good = good && half_from(std::nextafter(middle, high)).bits == next;
        good = good && half_from(std::nextafter(middle, low)).bits == bits;
    }
    REQUIRE(good);
}

TEST_CASE("reduction oracle: bfloat16 rounds to nearest, ties to even") {
    REQUIRE(to_float(BFloat{0x3f80}) == 1.0f);
    REQUIRE(bfloat_from(INFINITY).bits == 0x7f80);
    REQUIRE(bfloat_from(std::numeric_limits<float>::max()).bits == 0x7f80);
    bool good = true;
    for (std::uint16_t bits = 0; bits < 0x7f7f; ++bits) {
        const auto next = static_cast<std::uint16_t>(bits + 1);
        const float low = to_float(BFloat{bits}), high = to_float(BFloat{next});
        const float middle = low + (high - low) / 2;
        good = good && bfloat_from(low).bits == bits && bfloat_from(-low).bits == (bits | 0x8000);
        good = good && bfloat_from(middle).bits == (bits % 2 == 0 ? bits : next);
        good = good && bfloat_from(std::nextafter(middle, high)).bits == next;
        good = good && bfloat_from(std::nextafter(middle, low)).bits == bits;
    }
    REQUIRE(good);
}

// By the tables of OFP8 1.0, section 5.
TEST_CASE("reduction oracle: E4M3 and E5M2 are those of OFP8") {
    CHECK(to_float(E4M3{0x38}) == 1.0f);
    CHECK(to_float(E4M3{0x7e}) == 448.0f);
    CHECK(to_float(E4M3{0x08}) == std::ldexp(1.0f, -6));
    CHECK(to_float(E4M3{0x07}) == std::ldexp(0.875f, -6));
    CHECK(to_float(E4M3{0x01}) == std::ldexp(1.0f, -9));
    CHECK((std::isnan(to_float(E4M3{0x7f})) && std::isnan(to_float(E4M3{0xff}))));
    CHECK(to_float(E5M2{0x3c}) == 1.0f);
    CHECK(to_float(E5M2{0x7b}) == 57344.0f);
    CHECK(to_float(E5M2{0x04}) == std::ldexp(1.0f, -14));
    CHECK(to_float(E5M2{0x03}) == std::ldexp(0.75f, -14));
    CHECK(to_float(E5M2{0x01}) == std::ldexp(1.0f, -16));
    CHECK(to_float(E5M2{0xfc}) == -INFINITY);
    CHECK(std::isnan(to_float(E5M2{0x7d})));
    // Half way to where the next number would be, ties go to the even one.
    CHECK(e4m3_from(464.0f).bits == 0x7e);
    CHECK(e4m3_from(std::nextafter(464.0f, 500.0f)).bits == 0x7f);
    CHECK(e4m3_from(-INFINITY).bits == 0xff);
    CHECK(e5m2_from(std::nextafter(61440.0f, 0.0f)).bits == 0x7b);
    CHECK(e5m2_from(61440.0f).bits == 0x7c);
    CHECK(e5m2_from(-INFINITY).bits == 0xfc);
    CHECK(e4m3_from(std::ldexp(1.0f, -10)).bits == 0);
    CHECK(e4m3_from(std::ldexp(3.0f, -10)).bits == 2);
    CHECK(e5m2_from(-std::ldexp(1.0f, -17)).bits == 0x80);
    CHECK(e4m3_from(17.0f).bits == e4m3_from(16.0f).bits);
    CHECK(e4m3_from(19.0f).bits == e4m3_from(20.0f).bits);
    bool good = true;
    for (unsigned bits = 0; bits < 256; ++bits) {
        const E4M3 a{static_cast<std::uint8_t>(bits)};
        const E5M2 b{static_cast<std::uint8_t>(bits)};
        good = good && e4m3_from(to_float(a)).bits == bits;
        good = good && (std::isnan(to_float(b)) || e5m2_from(to_float(b)).bits == bits);
    }
    CHECK(good);
}

TEST_CASE("reduction oracle: which pairs exist") {
    const auto count = [](ucd_op_t op) { return types_supporting(op).size(); };
    REQUIRE(all_ops().size() == 13);
    REQUIRE(count(UCD_OP__REPLACE) == 62);
    // 40 integer types; 7 floating; 3 complex; 8 pairs; _BOOL; BYTE; CHAR and WCHAR_T.
    REQUIRE(count(UCD_OP__MAX) == 47);
    REQUIRE(count(UCD_OP__MIN) == 47);
    REQUIRE(count(UCD_OP__SUM) == 50);
    REQUIRE(count(UCD_OP__PROD) == 50);
    REQUIRE(count(UCD_OP__LAND) == 41);
    REQUIRE(count(UCD_OP__LXOR) == 41);
    REQUIRE(count(UCD_OP__BAND) == 41);
    REQUIRE(count(UCD_OP__MAXLOC) == 8);
    REQUIRE_FALSE(is_supported(UCD_OP__BAND, predefined(UCD_TYPE___BOOL)));
    REQUIRE_FALSE(is_supported(UCD_OP__SUM, predefined(UCD_TYPE__CHAR)));
}

} // namespace reduction_oracle_selftest
