// The reduction oracle against values of the standards, worked out by hand, where both it and the
// library could have misread them. Needs no library.
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
