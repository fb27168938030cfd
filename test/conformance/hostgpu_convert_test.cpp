// How the GPU backends go about conversions: kernels, streams, graphs.
#include "support/catch.hpp"

#include "support/buffers/aligned_buffer.hpp"
#include "support/host_vendor/capture.h"
#include "support/moves/converting.hpp"
#include "support/moves/device_moves.hpp"
#include "support/moves/plans.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace hostgpu_convert_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

// A conversion of all elements within the memory of a device, in a stream.
struct InStream {
    Case one{"in stream", 0};
    ConvertedPair pair;
    std::unique_ptr<DeviceBuffer> in_memory, out_memory;
    DeviceBuffer &in, &out;

    InStream(const RecipePtr &from, const RecipePtr &to, std::size_t count)
        : pair{with_elements(make_subject(one, from, count, "source")),
               with_elements(make_subject(one, to, count, "target"))},
          in_memory(aligned_buffer(one.rng(), pair.source.subject.range, device0)),
          out_memory(aligned_buffer(one.rng(), pair.target.subject.range, device0)), in(*in_memory),
          out(*out_memory) {
        const Subject &source = pair.source.subject, &target = pair.target.subject;
        expect_converted(pair, {&in, in.base(), source.type(), source.count, &source.bytes}, 0,
                         {&out, out.base(), target.type(), target.count, &target.bytes}, 0,
                         pair.source.elements.size(), false);
        in.send();
        out.send();
    }
    ucd_move_t move() const {
        const Subject &source = pair.source.subject, &target = pair.target.subject;
        return copy_move(in.real_base(), source.count, source.type(), out.real_base(), target.count,
                         target.type());
    }
    std::string run() {
        mock::Stream stream(0);
        (void)ucd::hostgpu::kernels_launched();
        MoveList moves = {move()};
        one.succeed(start_in(stream, moves, UCD_INFO__NULL, UCD_OP__CONVERT),
                    "conversion in a stream");
        finish_in(stream);
        out.fetch();
        require_intact(one, out, "target of a conversion in a stream");
        return ucd::hostgpu::names_launched();
    }
};

const RecipePtr number = leaf(UCD_TYPE__FLOAT), half = leaf(UCD_TYPE__BFLOAT16);

} // namespace

TEST_CASE("one kernel converts from layout to layout") {
    DeviceSession session;
    CHECK(InStream(number, half, 1000).run() == "convert_float32_to_bfloat16");
    CHECK(InStream(vector(20, 64, 80, number), contig(1280, half), 3).run() ==
          "convert_float32_to_bfloat16");
    CHECK(InStream(contig(64, number), contig(64, half), 20).run() ==
          "convert_float32_to_bfloat16");
    // A transpose, of as many rows and columns as every vendor's tiles need.
    CHECK(InStream(resized(vector(100, 1, 120, number), 0, 4), contig(100, half), 120).run() ==
          "convert_float32_to_bfloat16_tiles");
    CHECK(InStream(number, leaf(UCD_TYPE__UINT16_T), 1000).run() == "convert_any");
}

TEST_CASE("a plan converts many strided and contiguous arrays by one kernel") {
    DeviceSession session;
    InStream rows(vector(20, 64, 80, number), contig(1280, half), 3), line(number, half, 1000),
        both(vector(30, 8, 24, number), vector(15, 16, 20, half), 1);
    const Plan plan({rows.move(), line.move(), both.move()}, UCD_INFO__NULL, UCD_OP__CONVERT);
    (void)ucd::hostgpu::kernels_launched();
    plan.run();
    const auto launched = ucd::hostgpu::kernels_launched();
    CHECK(std::vector<std::string>(launched.begin(), launched.end()) ==
          std::vector<std::string>{"convert_float32_to_bfloat16_places_batch"});
    for (InStream *each : {&rows, &line, &both}) {
        each->out.fetch();
        require_intact(each->one, each->out, "target of a plan of conversions");
    }
}

TEST_CASE("a kernel converts nests of as many levels as it has room for") {
    DeviceSession session;
    // Elements in groups of groups, of `first`, 4 * first, 16 * first ... elements, with a gap
    // after each. Where the groups of the other side have other sizes, each size is a level.
    const auto grouped = [](const RecipePtr &element, std::intptr_t width, std::intptr_t first,
                            std::intptr_t total) {
        RecipePtr all = contig(first, element);
        std::intptr_t stride = first * width;
        for (std::intptr_t size = first; size < total; size *= 4) {
            const std::intptr_t count = std::min<std::intptr_t>(total / size, 4);
            stride += width;
            all = hvector(count, 1, stride, all);
            stride *= count;
        }
        return all;
    };
    const auto run = [&](const RecipePtr &from, std::intptr_t from_width, const RecipePtr &to,
                         std::intptr_t to_width, std::intptr_t first, int levels) {
        INFO(levels << " levels");
        const std::intptr_t total = first << levels;
        return InStream(grouped(from, from_width, first, total),
                        grouped(to, to_width, 2 * first, total), 1)
            .run();
    };
    const std::string kernel = "convert_float32_to_bfloat16";
    CHECK(run(number, 4, half, 2, 1, 9) == kernel);
    CHECK(run(number, 4, half, 2, 1, 10) == kernel + "_places_batch");
    // Bytes that are neighbours on both sides are one more level.
    const RecipePtr byte = leaf(UCD_TYPE__INT8_T), other = leaf(UCD_TYPE__UINT8_T);
    for (int levels = 7; levels <= 10; ++levels) (void)run(byte, 1, other, 1, 3, levels);
    CHECK(run(byte, 1, other, 1, 3, 9) == "convert_any");
}

TEST_CASE("in a stream, packed elements are converted where layouts are not strided") {
    DeviceSession session;
    const RecipePtr listed = indexed_block(2, {0, 7, 3, 20}, number);
    const std::string kernels = InStream(listed, contig(8, half), 5).run();
    INFO(kernels);
    CHECK(kernels.find("convert_float32_to_bfloat16") != std::string::npos);
    // Different elements.
    const RecipePtr mixed = structure({1, 2}, {0, 8}, {number, leaf(UCD_TYPE__INT32_T)});
    const RecipePtr other =
        structure({2, 1}, {0, 16}, {leaf(UCD_TYPE__DOUBLE), leaf(UCD_TYPE__INT8_T)});
    CHECK(InStream(mixed, other, 6).run() != "");
}

TEST_CASE("elements of pages by reference are converted by one kernel", "[bulk]") {
    DeviceSession session;
    Rng rng(9);
    // Pages of one row, of which the gap makes the unit of the list what it is.
    const auto pages = [&rng](std::int64_t count, std::int64_t rows, std::int64_t row,
                              std::int64_t gap, const RecipePtr &element, std::int64_t width) {
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < count; ++i) order.push_back(i);
        rng.shuffle(order);
        const std::int64_t page = rows * (row + gap) * width;
        return indexed_block_ref(1, order, UCD_TYPE__INT64_T, page, 0, count * page,
                                 vector(rows, row, row + gap, element),
                                 copy_in(device0, bytes_of_indices(order, UCD_TYPE__INT64_T)));
    };
    const std::string kernel = "convert_float32_to_bfloat16_places_batch";
    // In vectors of eight, as rows and gaps allow, and one by one; few words and many.
    for (const std::int64_t row : {8, 64, 5, 1})
        for (const std::int64_t gap : {8, 1})
            for (const std::int64_t count : {2, 400}) {
                CHECK(InStream(pages(2 * count, 16, row, gap, number, 4),
                               pages(count, 32, row, 2 * gap, half, 2), 1)
                          .run() == kernel);
            }
    CHECK(InStream(pages(9, 16, 24, 8, number, 4), contig(9 * 16 * 24, half), 1).run() == kernel);
    CHECK(InStream(contig(9 * 16 * 24, number), pages(9, 16, 24, 8, half, 2), 1).run() == kernel);
    // No kernel of their own, or elements that are not whole on their side.
    const std::string others =
        InStream(pages(9, 16, 24, 8, number, 4), contig(9 * 16 * 24, leaf(UCD_TYPE__INT8_T)), 1)
            .run();
    CHECK(others.find("convert_any") != std::string::npos);
}

} // namespace hostgpu_convert_test
