// ucd.hpp: ownership, spans and errors. What the calls do is tested elsewhere.
#include "support/catch.hpp"

#include <ucd.hpp>

#include <array>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace cxx_wrapper_test {

namespace {

std::vector<double> ramp(std::size_t n) {
    std::vector<double> v(n);
    std::iota(v.begin(), v.end(), 0.0);
    return v;
}

std::vector<std::byte> packed(const void *in, ucd::TypeRef type, uintptr_t count = 1) {
    std::vector<std::byte> out(type.size() * count);
    CHECK(ucd::pack(in, count, type, out) == out.size());
    return out;
}

std::vector<double> doubles(const std::vector<std::byte> &bytes) {
    std::vector<double> v(bytes.size() / sizeof(double));
    std::memcpy(v.data(), bytes.data(), bytes.size());
    return v;
}

} // namespace

static_assert(!std::is_copy_constructible_v<ucd::Type>);
static_assert(!std::is_copy_constructible_v<ucd::Request>);
static_assert(!std::is_copy_constructible_v<ucd::Info>);
static_assert(std::is_nothrow_move_constructible_v<ucd::Type>);

TEST_CASE("every constructor of ucd.hpp makes the type of its name") {
    const auto data = ramp(32);
    const std::array<intptr_t, 2> two{2, 1}, displs{4, 0}, bytes{32, 0};
    using D = std::vector<double>;
    const ucd::TypeRef d = UCD_TYPE__DOUBLE;
    const auto values = [&](const ucd::Type &t) { return doubles(packed(data.data(), t)); };

    CHECK(values(ucd::Type::contig(3, d)) == D{0, 1, 2});
    CHECK(values(ucd::Type::dup(d)) == D{0});
    CHECK(values(ucd::Type::vector(2, 1, 3, d)) == D{0, 3});
    CHECK(values(ucd::Type::hvector(2, 1, 24, d)) == D{0, 3});
    CHECK(values(ucd::Type::indexed_block(1, displs, d)) == D{4, 0});
    CHECK(values(ucd::Type::hindexed_block(1, bytes, d)) == D{4, 0});
    CHECK(values(ucd::Type::indexed_block_ref(2, 1, displs.data(), UCD_TYPE__INT64_T, 8, 0, 64,
                                              d)) == D{4, 0});
    CHECK(values(ucd::Type::indexed(two, displs, d)) == D{4, 5, 0});
    CHECK(values(ucd::Type::hindexed(two, bytes, d)) == D{4, 5, 0});
    const std::array<ucd_type_t, 2> types{UCD_TYPE__DOUBLE, UCD_TYPE__DOUBLE};
    CHECK(values(ucd::Type::structure(two, bytes, types)) == D{4, 5, 0});
    const std::array<intptr_t, 2> sizes{4, 8}, part{2, 2}, from{1, 3};
    CHECK(values(ucd::Type::subarray(sizes, part, from, UCD_ORDER__C, d)) == D{11, 12, 19, 20});
    const std::array<int, 1> distribs{UCD_DISTRIBUTE__CYCLIC}, procs{2};
    const std::array<intptr_t, 1> global{7}, dargs{UCD_DISTRIBUTE__DFLT_DARG};
    CHECK(values(ucd::Type::darray(2, 1, global, distribs, dargs, procs, UCD_ORDER__C, d)) ==
          D{1, 3, 5});
    const std::array<intptr_t, 2> shape{2, 2}, strides{8, 32};
    CHECK(values(ucd::Type::ndarray(shape, strides, d)) == D{0, 4, 1, 5});
    const ucd::Type wide = ucd::Type::resized(d, 0, 16);
    CHECK(wide.extent().extent == 16);
    CHECK(doubles(packed(data.data(), wide, 3)) == D{0, 2, 4});
}

TEST_CASE("types and requests move, and give up what they own") {
    ucd::Type a = ucd::Type::contig(2, UCD_TYPE__INT);
    const ucd_type_t raw = a.get();
    ucd::Type b = std::move(a);
    CHECK(b.get() == raw);
    CHECK(a.get() == UCD_TYPE__NULL);
    a = std::move(b);
    ucd_type_t released = a.release();
    CHECK(released == raw);
    CHECK(ucd_free(&released) == UCD_SUCCESS);

    const auto data = ramp(4);
    std::array<std::byte, 32> out;
    uintptr_t moved = 0;
    ucd::Request r = ucd::ipack(data.data(), 4, UCD_TYPE__DOUBLE, out, moved);
    r.wait();
    CHECK(r.test());
    CHECK(moved == 32);
}

TEST_CASE("copies, segments, bytes and hints by ucd.hpp") {
    const auto data = ramp(8);
    std::vector<double> target(8, -1);
    const ucd::Type even = ucd::Type::vector(4, 1, 2, UCD_TYPE__DOUBLE);
    CHECK(ucd::copy(data.data(), 1, even, target.data(), 4, UCD_TYPE__DOUBLE) == 32);
    CHECK(target == std::vector<double>{0, 2, 4, 6, -1, -1, -1, -1});

    const auto bytes = packed(data.data(), even);
    std::vector<double> back(8, -1);
    CHECK(ucd::unpack(bytes, back.data(), 1, even) == 32);
    CHECK(back == std::vector<double>{0, -1, 2, -1, 4, -1, 6, -1});

    const std::vector<iovec> segments = ucd::iov(data.data(), 1, even);
    REQUIRE(segments.size() == 4);
    CHECK(segments[1].iov_base == &data[2]);
    std::array<iovec, 3> some;
    CHECK(ucd::iov(data.data(), 1, even, 2, some).size() == 2);
    CHECK(even.layout().segments == 4);
    CHECK(even.advice().form == UCD_FORM__PACK);
    CHECK(even.advice(2, 8, 8).form == UCD_FORM__IOV);
    CHECK(even.describe().find("strided(4, 16) block(8)") != std::string::npos);

    const ucd::Type again = ucd::unflatten(ucd::flatten(even));
    CHECK(packed(data.data(), again) == bytes);

    ucd::Info info;
    info.set("ucd.gpu", "none").set("ucd.threads", "2").set("some.other.key", "anything");
    std::array<std::byte, 8> piece;
    CHECK(ucd::pack(data.data(), 1, even, piece, 8, UCD_OP__REPLACE, info) == 8);
}

} // namespace cxx_wrapper_test
