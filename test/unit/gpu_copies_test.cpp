// Copies from layout to layout on GPU backends: what a range of one is cut into.
#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace gpu_copies_test {

using namespace ucd;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

// Planes of 10 rows of 20 doubles.
constexpr std::size_t box_planes = 8, box_rows = 10, box_columns = 20, element = sizeof(double);

struct Gaps {
    std::size_t row, plane; // bytes from one to the next
    OwnedLayout layout() const {
        OwnedLayout made = strided(box_columns * element, box_rows, static_cast<std::int64_t>(row));
        repeat_last(made, box_planes, static_cast<std::int64_t>(plane));
        return made;
    }
    std::size_t bytes() const { return box_planes * plane; }
    std::size_t place_of(std::size_t i) const {
        return i / (box_rows * box_columns) * plane + i / box_columns % box_rows * row +
               i % box_columns * element;
    }
};

// The kernels that copied, without their widths.
std::string kinds_launched() {
    std::string kinds;
    for (const std::string &name : kernels_launched())
        kinds += (kinds.empty() ? "" : ", ") + name.substr(0, name.find("_w"));
    return kinds;
}

} // namespace

TEST_CASE("whole children of a copy's range are nests, and so are the parts around them") {
    Rng rng(1);
    FreshBackend backend;
    const Gaps a{200, 2400}, b{176, 2000};
    const OwnedLayout layout_a = a.layout(), layout_b = b.layout();
    const auto from = backend.plan(layout_a), to = backend.plan(layout_b);
    const auto run = [&](std::size_t first, std::size_t there, std::size_t doubles) {
        DeviceBytes in(a.bytes()), out(b.bytes());
        in.fill(rng);
        out.fill(rng);
        const std::vector<char> source = in.get();
        std::vector<char> expected = out.get();
        for (std::size_t i = 0; i < doubles; ++i)
            std::memcpy(&expected[b.place_of(there + i)], &source[a.place_of(first + i)], element);
        const Move move = copy_of({from.get(), in.at(0), 1, element * first},
                                  {to.get(), out.at(0), 1, element * there}, element * doubles);
        (void)kernels_launched();
        REQUIRE(backend.run(std::span(&move, 1)).ok());
        CHECK(out.get() == expected);
        CHECK(in.get() == source);
        return kinds_launched();
    };
    CHECK(run(0, 0, 1600) == "copy_rows");
    CHECK(run(200, 200, 1000) == "copy_rows");          // planes
    CHECK(run(400, 800, 600) == "copy_rows");           // to others
    CHECK(run(40, 220, 160) == "copy_rows");            // rows of a plane
    CHECK(run(43, 243, 10) == "copy_rows");             // part of a row
    CHECK(run(180, 180, 40) == "copy_rows, copy_rows"); // the end of a plane, and the next one's
    CHECK(run(180, 380, 440) == "copy_rows, copy_rows, copy_rows"); // and two in between
    // The same, and the ends of rows.
    CHECK(run(175, 175, 450) == "copy_rows, copy_rows, copy_rows, copy_rows, copy_rows");
    CHECK(run(0, 20, 400) == "copy_places");   // planes end elsewhere on the other side
    CHECK(run(0, 1, 15) == "copy_rows");       // but not in a row
    CHECK(run(175, 175, 10) == "copy_places"); // so little that it is one launch
}

TEST_CASE("a long range that begins within words is copied in wide ones, but for its ends") {
    Rng rng(2);
    FreshBackend backend;
    // Blocks of other lengths, which do not fit into each other.
    const OwnedLayout layout_a = strided(48, 100, 64), layout_b = strided(80, 60, 96);
    const auto from = backend.plan(layout_a), to = backend.plan(layout_b);
    DeviceBytes in(6400), out(5760);
    for (const std::size_t first : {0, 3, 16})
        for (const std::size_t further : {0, 16, 5})
            for (const std::size_t length : {4000, 4001}) {
                in.fill(rng);
                out.fill(rng);
                const std::vector<char> source = in.get();
                std::vector<char> expected = out.get();
                const std::size_t there = first + further;
                for (std::size_t i = 0; i < length; ++i)
                    expected[(there + i) / 80 * 96 + (there + i) % 80] =
                        source[(first + i) / 48 * 64 + (first + i) % 48];
                const Move move = copy_of({from.get(), in.at(0), 1, first},
                                          {to.get(), out.at(0), 1, there}, length);
                (void)kernels_launched();
                REQUIRE(backend.run(std::span(&move, 1)).ok());
                CHECK(out.get() == expected);
                const std::vector<std::string> kernels = kernels_launched();
                const bool aligned = further % 16 == 0;
                const std::size_t ends =
                    aligned ? (first % 16 != 0) + ((first + length) % 16 != 0) : 0;
                CHECK(kernels.size() == 1 + ends);
                CHECK(std::count(kernels.begin(), kernels.end(),
                                 aligned ? "copy_places_w16" : "copy_places_w1") == 1);
            }
}

TEST_CASE("a stream that is captured gets copies of types that are prepared, and no others") {
    Rng rng(3);
    const Gaps a{200, 2400}, b{176, 2000};
    // Joined nests, and what is moved word by word.
    const OwnedLayout layouts[] = {a.layout(), b.layout(), listed(8, {0, 24, 40, 88})};
    for (const OwnedLayout &from_layout : layouts)
        for (const OwnedLayout &to_layout : layouts)
            for (const std::size_t members : {1, 5})
                for (const std::size_t odd : {0, 4}) {
                    FreshBackend backend;
                    const auto from = backend.plan(from_layout), to = backend.plan(to_layout);
                    DeviceBytes in(a.bytes()), out(a.bytes());
                    const std::vector<Move> list(
                        members,
                        copy_of({from.get(), in.at(odd), 1, 0}, {to.get(), out.at(0), 1, 0},
                                std::min(from_layout->top().bytes, to_layout->top().bytes)));
                    Capture capture;
                    const auto prepare = [&](const KernelPlan &plan) {
                        REQUIRE(
                            backend->prepare(capture.native(), move_of(plan, nullptr, nullptr, 0))
                                .ok());
                    };
                    (void)kernels_loaded();
                    prepare(*from);
                    CHECK(backend->launch_in(capture.native(), list, nullptr).code() ==
                          UCD_ERR__NOT_SUPPORTED);
                    prepare(*to);
                    const std::set<std::string> loaded = kernels_loaded();
                    (void)kernels_launched();
                    REQUIRE(backend->launch_in(capture.native(), list, nullptr).ok());
                    for (const std::string &kernel : kernels_launched()) {
                        INFO(kernel);
                        CHECK(loaded.count(kernel) == 1);
                    }
                    CHECK(capture.end() > 0);
                }
}

} // namespace gpu_copies_test
