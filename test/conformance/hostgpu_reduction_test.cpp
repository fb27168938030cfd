// Reductions by the GPU backends, with devices that are threads of the CPU: launches, staging,
// streams, graphs.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"

#include <string>
#include <utility>
#include <vector>

namespace hostgpu_reduction_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// For each way that kernels take elements, with lists and without.
std::vector<RecipePtr> layouts() {
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE), small = leaf(UCD_TYPE__SIGNED_CHAR);
    const RecipePtr record =
        resized(structure({1, 2, 1}, {0, 8, 16}, {number, leaf(UCD_TYPE__INT), small}), 0, 24);
    RecipePtr nest = number;
    std::intptr_t stride = 24;
    for (int i = 0; i < 5; ++i, stride = stride * 3 + 8) nest = hvector(3, 1, stride, nest);
    return {contig(1000, number),
            vector(500, 1, 3, number),
            vector(100, 16, 32, small),
            vector(100, 5, 12, leaf(UCD_TYPE__SHORT)),
            hvector(100, 3, 29, leaf(UCD_TYPE__INT)),
            indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, number),
            contig(7, resized(indexed({3, 1, 2}, {0, 7, 20}, number), 0, 400)),
            nest,
            contig(100, record),
            vector(30, 2, 3, record),
            structure({1, 1}, {0, 3 << 20},
                      {vector(70000, 1, 2, leaf(UCD_TYPE__INT)), vector(70000, 1, 2, number)})};
}

} // namespace

TEST_CASE("a reduction is one launch on the device that has the result", "[bulk]") {
    DeviceSession session;
    for (const RecipePtr &recipe : layouts()) {
        INFO(to_text(*recipe));
        Case one("one reduction", 0);
        const ReducedSubject what = with_elements(make_subject(one, recipe, 1));
        const std::size_t elements = what.elements.size(), size = what.subject.size();
        DeviceBuffer typed(one.rng(), what.subject.range, device0);
        for (const Memory b : {device0, pinned, managed}) {
            DeviceBuffer packed(one.rng(), {0, static_cast<std::intptr_t>(size)}, b);
            const std::size_t offset = what.offset_of(elements / 3);
            for (const auto &[from, to] : {std::pair{std::size_t{0}, size},
                                           std::pair{offset, what.offset_of(elements - 1)}}) {
                const DeviceMove move{one, UCD_OP__SUM, what, typed, packed, from, to - from};
                mock::counts.launches = mock::counts.copies = 0;
                check_device_pack(move);
                CHECK(mock::counts.launches == 1);
                check_device_unpack(move);
                CHECK(mock::counts.launches == 2);
                CHECK(mock::counts.copies == 0);
            }
        }
    }
}

TEST_CASE("long double: by the host, where it reaches the result") {
    DeviceSession session;
    if constexpr (sizeof(long double) == sizeof(double)) return;
    constexpr std::size_t count = 100, bytes = count * sizeof(long double);
    DeviceBuffer in(Case("long double", 0).rng(), {0, bytes}, device0);
    std::vector<long double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<long double>(i) / 3;
    mock::write(in.real_base(), values.data(), bytes);
    const auto pack = [&](DeviceBuffer &out, std::uintptr_t &actual) {
        return ucd_pack(in.real_base(), count, UCD_TYPE__LONG_DOUBLE, 0, out.real_base(), bytes,
                        &actual, UCD_INFO__NULL, UCD_OP__SUM);
    };
    const auto unpack = [&](DeviceBuffer &out, std::uintptr_t &actual) {
        return ucd_unpack(in.real_base(), bytes, out.real_base(), count, UCD_TYPE__LONG_DOUBLE, 0,
                          &actual, UCD_INFO__NULL, UCD_OP__SUM);
    };
    for (const Memory b : {device0, pageable, pinned, managed})
        for (const bool packs : {true, false}) {
            INFO((packs ? "pack to " : "unpack to ") << name_of(b));
            DeviceBuffer out(Case("long double", 1).rng(), {0, bytes}, b);
            mock::write(out.real_base(), values.data(), bytes);
            std::uintptr_t actual = 0;
            const int rc = packs ? pack(out, actual) : unpack(out, actual);
            if (b == device0) {
                CHECK(rc == UCD_ERR__NOT_SUPPORTED);
                CHECK(last_error_says("has no SUM for long_double"));
                continue;
            }
            REQUIRE(rc == UCD_SUCCESS);
            std::vector<long double> sums(count);
            mock::read(sums.data(), out.real_base(), bytes);
            for (std::size_t i = 0; i < count; ++i) CHECK(sums[i] == values[i] + values[i]);
        }
}

TEST_CASE("what is prepared for one op is not for another") {
    DeviceSession session;
    mock::Stream stream(0);
    StridedMove move("prepared", 100, device0, device0);
    const auto pack = [&](ucd_op_t op) {
        move.op = op;
        return pack_in(native(stream), move.move());
    };
    prepare(stream, move.type(), UCD_OP__SUM);
    ucd::hostgpu::begin_capture(stream);
    CHECK(pack(UCD_OP__REPLACE) == UCD_ERR__NOT_SUPPORTED);
    CHECK(pack(UCD_OP__MAX) == UCD_ERR__NOT_SUPPORTED);
    CHECK(pack(UCD_OP__SUM) == UCD_SUCCESS);
    CHECK(ucd::hostgpu::end_capture(stream).nodes.size() == 1);
}

TEST_CASE("a reduction does not wait for the device, with lists to upload or not") {
    DeviceSession session;
    for (const RecipePtr &recipe : layouts()) {
        for (const auto &[a, b] : {std::pair{device0, device0}, std::pair{device1, pageable},
                                   std::pair{pageable, device0}}) {
            check_returns_at_once(recipe, UCD_OP__SUM, a, b);
        }
    }
}

TEST_CASE("reductions into the memory of a peer") {
    check_peers_are_reached(UCD_OP__SUM);
}

TEST_CASE("reductions in a stream, as they are and captured") {
    DeviceSession session;
    mock::Stream stream(0);
    for (const RecipePtr &recipe : layouts()) {
        INFO(to_text(*recipe));
        WholeMove whole("streams", recipe, device0, pinned, UCD_OP__SUM);
        const DeviceMove move = whole.move();
        const auto start = [&](bool packs) {
            return packs ? pack_in(native(stream), move) : unpack_in(native(stream), move);
        };
        const auto check = [&] {
            finish_in(stream);
            check_result(move);
        };
        for (const bool packs : {true, false}) {
            set_up(move, packs);
            REQUIRE(start(packs) == UCD_SUCCESS);
            check();
        }
        ucd::hostgpu::begin_capture(stream);
        CHECK(start(true) == UCD_ERR__NOT_SUPPORTED);
        CHECK(last_error_says("ucd_prepare"));
        CHECK(ucd::hostgpu::end_capture(stream).nodes.empty());
        prepare(stream, whole.type(), UCD_OP__SUM);
        for (const bool packs : {true, false}) {
            ucd::hostgpu::begin_capture(stream);
            REQUIRE(start(packs) == UCD_SUCCESS);
            const ucd::hostgpu::Graph graph = ucd::hostgpu::end_capture(stream);
            CHECK(graph.nodes.size() == 1);
            for (int replay = 0; replay < 3; ++replay) {
                set_up(move, packs);
                ucd::hostgpu::replay(graph, stream);
                check();
            }
        }
    }
}

TEST_CASE("reducing kernels with a cap on their blocks do all of it", "[bulk]") {
    DeviceSession session;
    const Keys info({{"ucd.max_blocks", "2"}});
    for (const RecipePtr &recipe : layouts()) {
        WholeMove whole("blocks", recipe, device0, device0, UCD_OP__SUM);
        whole.pack_and_check(info);
    }
}

} // namespace hostgpu_reduction_test
