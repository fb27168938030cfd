// ucd_types.hpp: types from C++ types, against what the compiler says of them.
#include "support/catch.hpp"

#include <ucd.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace cxx_types_test {

namespace {

struct Point {
    double x, y;
    char kind;
    int id;
};
enum class Colour : std::uint16_t { red = 7 };
struct Particle {
    Colour colour;
    float position[3];
    std::array<std::array<int, 2>, 2> neighbours;
    Point at;
    Point trail[2];
    std::complex<float> phase;
};

// The element is right if it sums as the C++ type does: kind and width both count.
template <class T>
void check_element() {
    const T one[] = {T(3), T(5)};
    T out[] = {T(2), T(100)};
    CHECK(ucd::copy(one, 2, ucd::type_of<T>(), out, 2, ucd::type_of<T>(), UCD_OP__SUM) ==
          sizeof out);
    CHECK(out[0] == T(5));
    CHECK(out[1] == T(105));
}

} // namespace

TEST_CASE("type_of names the element of a C++ type") {
    check_element<signed char>();
    check_element<unsigned char>();
    check_element<short>();
    check_element<unsigned short>();
    check_element<int>();
    check_element<unsigned>();
    check_element<long>();
    check_element<unsigned long>();
    check_element<long long>();
    check_element<unsigned long long>();
    check_element<float>();
    check_element<double>();
    check_element<long double>();
    check_element<std::complex<float>>();
    check_element<std::complex<double>>();
    check_element<std::complex<long double>>();
    check_element<std::int64_t>();
    check_element<std::size_t>();
    CHECK(ucd::type_of<bool>().get() == UCD_TYPE___BOOL);
    CHECK(ucd::type_of<char>().get() == UCD_TYPE__CHAR);
    CHECK(ucd::type_of<wchar_t>().get() == UCD_TYPE__WCHAR_T);
    CHECK(ucd::type_of<std::byte>().get() == UCD_TYPE__BYTE);
    CHECK(ucd::type_of<const Colour>().get() == UCD_TYPE__UNSIGNED_SHORT);
}

TEST_CASE("struct_of takes structs that are larger than the stack") {
    struct Field {
        double values[4096][4096]; // 128 MiB
        int step;
    };
    const ucd::Type type = ucd::struct_of(&Field::step, &Field::values);
    CHECK(type.size() == sizeof(Field::values) + sizeof(int));
    CHECK(type.extent().extent == sizeof(Field));
    CHECK(type.true_extent().lb == 0);
    CHECK(ucd::struct_of<ucd::as_value>(&Field::step)->true_extent().lb ==
          static_cast<intptr_t>(offsetof(Field, step)));
}

TEST_CASE("struct_of selects members, and an array of structs is a count") {
    std::vector<Point> points(5);
    for (int i = 0; i < 5; ++i) points[static_cast<std::size_t>(i)] = {i * 1.5, -1, 'k', 10 + i};
    const ucd::Type type = ucd::struct_of(&Point::id, &Point::x);
    CHECK(type.size() == sizeof(int) + sizeof(double));
    CHECK(type.extent().lb == 0);
    CHECK(type.extent().extent == sizeof(Point));
    const std::vector<std::byte> bytes = ucd::packed(points.data(), points.size(), type);
    std::vector<Point> back(5, {0, 7, 'z', 0});
    CHECK(ucd::unpack(bytes, back.data(), back.size(), type) == bytes.size());
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(back[i].id == points[i].id);
        CHECK(back[i].x == points[i].x);
        CHECK(back[i].y == 7); // not selected
        CHECK(back[i].kind == 'z');
    }
}

TEST_CASE("members may be arrays, structs, arrays of structs and enumerations") {
    const ucd::Type point = ucd::struct_of(&Point::x, &Point::y);
    const ucd::Type type = ucd::struct_of(&Particle::colour, &Particle::position,
                                          &Particle::neighbours, ucd::field(&Particle::at, point),
                                          ucd::field(&Particle::trail, point), &Particle::phase);
    CHECK(type.size() ==
          2 + 3 * sizeof(float) + 4 * sizeof(int) + 3 * 2 * sizeof(double) + 2 * sizeof(float));
    CHECK(type.extent().extent == sizeof(Particle));
    const Particle p{Colour::red,
                     {1, 2, 3},
                     {{{4, 5}, {6, 7}}},
                     {8, 9, 'a', 1},
                     {{10, 11, 'b', 2}, {12, 13, 'c', 3}},
                     {14, 15}};
    Particle q{};
    CHECK(ucd::copy(&p, 1, type, &q, 1, type) == type.size());
    CHECK(q.colour == Colour::red);
    CHECK(q.position[2] == 3);
    CHECK(q.neighbours == p.neighbours);
    CHECK(q.at.y == 9);
    CHECK(q.at.id == 0);
    CHECK(q.trail[1].x == 12);
    CHECK(q.trail[1].kind == 0);
    CHECK(q.phase == p.phase);
}

TEST_CASE("array_of takes shape and strides in elements") {
    std::vector<float> data(24);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    std::array<float, 6> out{};
    // The transpose of a 2x3 corner of a 4x6 matrix; then backwards.
    CHECK(ucd::pack(data.data(), 1, ucd::array_of<float>({3, 2}, {1, 6}), out) == sizeof out);
    CHECK(out == std::array<float, 6>{0, 6, 1, 7, 2, 8});
    CHECK(ucd::pack(&data[5], 1, ucd::array_of<float>({6}, {-1}), out) == sizeof out);
    CHECK(out == std::array<float, 6>{5, 4, 3, 2, 1, 0});
    const auto far =
        ucd::array_of<double, ucd::as_value>({2}, {std::numeric_limits<std::intptr_t>::max() / 2});
    CHECK(far.code() == UCD_ERR__OVERFLOW);
    CHECK_THROWS_AS((ucd::array_of<double>({2, 2}, {1})), ucd::Error);
}

} // namespace cxx_types_test
