// Reductions by the GPU backends, with devices that are threads of the CPU: launches, staging,
// streams, graphs.
#include "support/catch.hpp"

#include "support/host_vendor/capture.h"
#include "support/keys.hpp"
#include "support/moves/graphs.hpp"
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
        for (const Memory b : {device0, pinned, managed}) {
            WholeMove whole("one reduction", recipe, device0, b, UCD_OP__SUM);
            const std::size_t elements = whole.what.elements.size();
            const std::size_t from = whole.what.offset_of(elements / 3),
                              to = whole.what.offset_of(elements - 1);
            for (const DeviceMove &move : {whole.move(), whole.part(from, to - from)}) {
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
    for (const Memory b : {device0, pageable, pinned, managed})
        for (const bool packs : {true, false}) {
            INFO((packs ? "pack to " : "unpack to ") << name_of(b));
            DeviceBuffer out(Case("long double", 1).rng(), {0, bytes}, b);
            mock::write(out.real_base(), values.data(), bytes);
            const ucd_type_t type = UCD_TYPE__LONG_DOUBLE;
            MoveList moves = {
                packs ? pack_move(in.real_base(), count, type, 0, out.real_base(), bytes)
                      : unpack_move(in.real_base(), bytes, out.real_base(), count, type, 0)};
            const int rc = move_all(moves, UCD_INFO__NULL, UCD_OP__SUM);
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
    const auto graph = ucd::hostgpu::captured(stream, [&] {
        for (const ucd_op_t op : {UCD_OP__REPLACE, UCD_OP__MAX, UCD_OP__SUM})
            CHECK(pack(op) == (op == UCD_OP__SUM ? UCD_SUCCESS : UCD_ERR__NOT_SUPPORTED));
    });
    CHECK(graph.nodes.size() == 1);
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
        for (const bool packs : {true, false}) {
            set_up(move, packs);
            REQUIRE((packs ? pack_in(native(stream), move) : unpack_in(native(stream), move)) ==
                    UCD_SUCCESS);
            finish_in(stream);
            check_result(move);
        }
        check_graphs(stream, move, [] {});
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
