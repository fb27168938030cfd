// Single launches of GPU backends: which kernel moves a range, what it is told where numbers are at
// their limits, and what has been loaded before.
#include "kernels/copy_kernels.h"
#include "kernels/nest_kernel.h"
#include "params/aligned_stores.h"
#include "params/convert.h"
#include "params/copy.h"
#include "params/tiles.h"
#include "plan/make_divisor.h"
#include "plan/move_range.h"
#include "tuning.h"

#include "unit/gpu_members.hpp"
#include "unit/layouts_by_hand.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <vector>

namespace gpu_launches_test {

using namespace ucd;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

template <class T>
T as(const std::vector<char> &bytes) {
    T value;
    REQUIRE(bytes.size() == sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

// The kernel that moves it, if that is one launch.
std::string kernel_of(const FreshBackend &backend, Member &member) {
    Rng rng(1);
    member.set_up(rng);
    (void)kernels_launched();
    REQUIRE(backend.run(std::vector<Move>{member.move}).ok());
    CHECK(member.is_right());
    const std::vector<std::string> kernels = kernels_launched();
    REQUIRE(kernels.size() == 1);
    return kernels[0];
}

// Columns of a matrix whose rows touch: element i of the stream is in row i % rows.
std::vector<std::size_t> transposed(std::size_t rows, std::size_t columns, std::size_t bytes) {
    std::vector<std::size_t> places;
    for (std::size_t column = 0; column < columns; ++column)
        for (std::size_t row = 0; row < rows; ++row)
            places.push_back((row * columns + column) * bytes);
    return places;
}

OwnedLayout matrix(std::size_t rows, std::size_t columns, std::size_t bytes) {
    OwnedLayout layout = strided(bytes, rows, static_cast<std::int64_t>(columns * bytes));
    repeat_last(layout, columns, static_cast<std::int64_t>(bytes));
    return layout;
}

constexpr std::uintptr_t from_here = std::uintptr_t{1} << 44, to_there = std::uintptr_t{1} << 45;

// A move from memory that is nowhere to such memory.
Move nowhere(const KernelPlan &from, const KernelPlan &to, uint64_t count, uint64_t length) {
    return copy_of({&from, reinterpret_cast<char *>(from_here), count, 0},
                   {&to, reinterpret_cast<char *>(to_there), count, 0}, length);
}

// What the kernels of a move that is not run are given.
template <class Params>
std::vector<Params> launched(const FreshBackend &backend, const Move &move) {
    (void)parameters_launched();
    Owner<Event> done;
    REQUIRE(backend->launch(0, std::span(&move, 1), done).ok());
    CHECK(FreshBackend::wait(done).code() == UCD_ERR__DEVICE);
    std::vector<Params> all;
    for (const std::vector<char> &bytes : parameters_launched()) all.push_back(as<Params>(bytes));
    return all;
}

std::vector<CopyRowsParams> copies_of_rows(const FreshBackend &backend, const KernelPlan &from,
                                           const KernelPlan &to, uint64_t count, uint64_t length) {
    return launched<CopyRowsParams>(backend, nowhere(from, to, count, length));
}

} // namespace

TEST_CASE_METHOD(OnBackend, "any part of a matrix that is large enough is transposed in tiles") {
    for (const std::size_t bytes : {1, 2, 4, 8, 16}) {
        const OwnedLayout layout = matrix(70, 100, bytes);
        const auto plan = backend.plan(layout);
        for (const Direction direction : {Direction::pack, Direction::unpack}) {
            Member member(*plan, bytes, transposed(70, 100, bytes), direction);
            const std::string width = "_w" + std::to_string(bytes);
            const auto in_tiles = [&] { // or in tiles of windows
                const std::string kernel = kernel_of(backend, member);
                return kernel == "copy_tiles" + width || kernel == "copy_windows" + width;
            };
            CHECK(in_tiles());
            // Its second half, and what is too little of one for tiles.
            member.restrict(50 * 70 + 3, 100 * 70 - 5);
            CHECK(in_tiles());
            member.restrict(50 * 70 + 3, 53 * 70);
            CHECK_FALSE(in_tiles());
        }
    }
}

TEST_CASE_METHOD(OnBackend, "lines of a few channels that consist of vectors are moved together") {
    for (const std::size_t bytes : {1, 2})
        for (const std::size_t channels : {2, 3, 4, 5})
            for (const std::size_t positions :
                 {16 / bytes, std::size_t{72}, std::size_t{5000}, std::size_t{5008}}) {
                const std::size_t plane = 5120 * bytes, image = channels * plane;
                OwnedLayout layout = strided(bytes, channels, static_cast<std::int64_t>(plane));
                repeat_last(layout, positions, static_cast<std::int64_t>(bytes));
                repeat_last(layout, 2, static_cast<std::int64_t>(image));
                std::vector<std::size_t> places;
                for (std::size_t i = 0; i < 2 * positions * channels; ++i)
                    places.push_back(i / channels / positions * image + i % channels * plane +
                                     i / channels % positions * bytes);
                const auto plan = backend.plan(layout);
                for (const Direction direction : {Direction::pack, Direction::unpack})
                    for (const std::size_t odd : {std::size_t{0}, bytes}) {
                        Member member(*plan, bytes, places, direction, odd);
                        const std::string kernel = kernel_of(backend, member);
                        CHECK((kernel == "copy_channels_w" + std::to_string(bytes)) ==
                              (channels < 5 && positions * bytes % 16 == 0 && odd == 0));
                        // Lines share tiles.
                        if (kernel.starts_with("copy_channels"))
                            CHECK(as<TilesParams>(parameters_launched().back()).tiles ==
                                  (2 * positions * bytes / 16 + 255) / 256);
                        // Whole images only.
                        member.restrict(positions * channels, places.size());
                        CHECK(kernel_of(backend, member) == kernel);
                        member.restrict(channels, places.size());
                        CHECK_FALSE(kernel_of(backend, member).starts_with("copy_channels"));
                    }
            }
}

TEST_CASE_METHOD(OnBackend,
                 "odd blocks are unpacked in aligned stores, wherever they begin in the stream") {
    const OwnedLayout layout = strided(17, 200, 24);
    const auto plan = backend.plan(layout);
    for (const std::size_t odd : {0, 8, 4}) {
        Member member(*plan, 17, steps(200, 24), Direction::unpack, odd);
        const auto check = [&](std::size_t blocks) {
            (void)parameters_launched();
            const std::string kernel = kernel_of(backend, member);
            CHECK((kernel == "unpack_aligned_stores") == (odd % 8 == 0));
            if (kernel != "unpack_aligned_stores") return;
            // Of 8, 8 and 1 bytes.
            CHECK(as<AlignedStoresParams>(parameters_launched().back()).range.count == 3 * blocks);
        };
        check(200);
        member.restrict(77, 190);
        check(190 - 77);
    }
    Member pack(*plan, 17, steps(200, 24));
    CHECK(kernel_of(backend, pack) != "unpack_aligned_stores");
}

TEST_CASE_METHOD(OnBackend,
                 "there are as many tiles as it takes, whatever each thread moves of one") {
    std::vector<std::int64_t> displacements;
    for (std::int64_t i = 0; i < 5000; ++i) displacements.push_back(48 * i + i % 3 * 16);
    const OwnedLayout layout = listed(16, displacements), words = listed(4, displacements);
    for (const std::size_t block : {16, 4}) {
        const auto plan = backend.plan(block == 16 ? layout : words);
        Member member(*plan, block, {displacements.begin(), displacements.end()});
        (void)parameters_launched();
        (void)kernel_of(backend, member);
        const auto params = as<NestParams>(parameters_launched().back());
        CHECK(params.vectors == 5000 * block / vector_bytes);
        CHECK((params.per_thread > 1) == (block == 16));
        const uint32_t tile = threads_per_block * params.per_thread;
        CHECK(params.tiles == (params.vectors + tile - 1) / tile);
    }
}

TEST_CASE_METHOD(OnBackend, "only launches that read what a plan has need it until they are done") {
    const auto is_needed = [&](const OwnedLayout &layout, uint64_t count = 1, Op op = Op::replace) {
        const auto plan = backend.plan(layout, 4096, true);
        Move move = move_of(*plan, nullptr, nullptr, 0, Direction::pack, count);
        move.op = op;
        move.elements = &unsigned_ints;
        return plan->is_needed_by(move);
    };
    CHECK_FALSE(is_needed(block_of(8)));
    CHECK_FALSE(is_needed(strided(8, 10, 24)));
    CHECK(is_needed(strided(8, 10, 24), 1, Op::sum));
    CHECK(is_needed(listed(8, {0, 24, 40, 88})));
    CHECK(is_needed(strided(17, 100, 24))); // aligned stores
    // The interpreter reads the layout.
    constexpr uint64_t most = (max_positions - vector_bytes) / 80;
    CHECK_FALSE(is_needed(strided(8, 10, 24), most));
    CHECK(is_needed(strided(8, 10, 24), most + 1));
}

TEST_CASE_METHOD(OnBackend, "odd blocks are packed in pieces, except at the ends of the range") {
    for (const std::size_t block : {15, 17, 18, 31, 33, 121})
        for (const std::size_t gap : {1, 2, 7})
            for (const std::size_t odd : {0, 1, 2, 3}) {
                const std::size_t stride = block + gap, rows = 7, plane = rows * stride + 5;
                OwnedLayout layout = strided(block, rows, static_cast<std::int64_t>(stride));
                repeat_last(layout, 9, static_cast<std::int64_t>(plane));
                std::vector<std::size_t> places; // of each byte
                for (std::size_t i = 0; i < 9 * rows; ++i)
                    for (std::size_t k = 0; k < block; ++k)
                        places.push_back(i / rows * plane + i % rows * stride + k);
                const auto plan = backend.plan(layout);
                Member member(*plan, 1, places, Direction::pack, odd);
                (void)parameters_launched();
                CHECK(kernel_of(backend, member).starts_with("pack_ss_w"));
                const auto params = as<NestParams>(parameters_launched().back());
                CHECK(params.pieces == (block < 16 ? 0 : block / 16 + 2));
                // The range begins and ends inside of blocks.
                for (const std::size_t cut : {1, 3, 8}) {
                    member.restrict(block + cut, places.size() - block - 2 * cut);
                    CHECK(kernel_of(backend, member).starts_with("pack_ss_w"));
                }
            }
}

TEST_CASE_METHOD(OnBackend, "runs that end before 2^32 words are found by one search") {
    OwnedLayout layout = block_of(8);
    Node n = around_last(layout, NodeKind::indexed, 100, 3000);
    n.count = 5;
    n.stride = 8;
    layout.add(TableLists{{0, 400, 808, 1216, 1704}, {0, 20, 40, 60, 80, 100}, {}, {}, {}});
    put_on_top(layout, n);
    const auto plan = backend.plan(layout);
    std::vector<std::size_t> places;
    for (const std::size_t run : {0, 400, 808, 1216, 1704})
        for (std::size_t i = 0; i < 20; ++i) places.push_back(run + 8 * i);
    Member member(*plan, 8, places);
    (void)parameters_launched();
    CHECK(kernel_of(backend, member) == "pack_i_w8");
    CHECK(as<NestParams>(parameters_launched().back()).together == 1);
}

TEST_CASE("displacements of 64 bits are counted in words") {
    const std::vector<std::int64_t> bytes{0, 48, -16, (std::int64_t{1} << 40) + 16, INT64_MIN};
    DeviceBytes list_in_memory(bytes.size() * sizeof bytes[0]);
    const auto *const first = reinterpret_cast<const char *>(bytes.data());
    list_in_memory.set({first, first + bytes.size() * sizeof bytes[0]});
    NestList list{};
    list.displacements = reinterpret_cast<std::uintptr_t>(list_in_memory.at(0));
    for (std::uint32_t i = 0; i < bytes.size(); ++i) {
        CHECK(displacement_at<1>(list, i) == bytes[i]);
        CHECK(displacement_at<2>(list, i) == bytes[i] / 2);
        CHECK(displacement_at<4>(list, i) == bytes[i] / 4);
        CHECK(displacement_at<8>(list, i) == bytes[i] / 8);
        CHECK(displacement_at<16>(list, i) == bytes[i] / 16);
    }
    // The same for children, as they are found by a level of the library's own.
    ShapeLevel level;
    level.kind = LevelKind::indexed_block;
    list = nest_list(level, 4, list.displacements);
    for (std::uint32_t i = 0; i < bytes.size(); ++i)
        CHECK(displacement_of_child<4>(list, i) == bytes[i] / 4);
}

TEST_CASE_METHOD(OnBackend, "the engine is chosen by all rows, and by where they begin") {
    const auto is_by_engine = [&](const OwnedLayout &owned, std::size_t block,
                                  const std::vector<std::size_t> &places, std::int64_t start) {
        Layout layout = owned;
        layout.start = start;
        const auto plan = backend.plan(layout);
        Member member(*plan, block, places, Direction::pack, 0, MemoryKind::pinned);
        typed_of(member.move).address -= start;
        Rng rng(5);
        member.set_up(rng);
        (void)kernels_launched();
        REQUIRE(backend.run(std::vector<Move>{member.move}).ok());
        CHECK(member.is_right());
        return kernels_launched().empty();
    };
    // 16 bytes: an engine takes up to 2640 rows.
    OwnedLayout planes = strided(16, 400, 32);
    std::vector<std::size_t> places;
    for (std::size_t plane = 0; plane < 10; ++plane)
        for (std::size_t row = 0; row < 400; ++row) places.push_back(plane * 13120 + row * 32);
    repeat_last(planes, 6, 13120);
    CHECK(is_by_engine(planes, 16, {places.begin(), places.begin() + 6 * 400}, 0));
    planes = strided(16, 400, 32);
    repeat_last(planes, 10, 13120);
    CHECK_FALSE(is_by_engine(planes, 16, places, 0));
    // 128 bytes: up to 25,000 rows, or 3250 if they begin on odd addresses.
    for (const std::int64_t start : {0, 12, -4})
        CHECK(is_by_engine(strided(128, 4000, 256), 128, steps(4000, 256), start));
    const OwnedLayout layout = strided(128, 4000, 256);
    const auto plan = backend.plan(layout);
    Member odd(*plan, 128, steps(4000, 256), Direction::pack, 8, MemoryKind::pinned);
    (void)kernel_of(backend, odd);
}

TEST_CASE_METHOD(OnBackend, "plans say how they move") {
    const auto said = [&](const OwnedLayout &layout, uint64_t max_bytes = UINT64_MAX) {
        return description_of(*backend.plan(layout, 0, false, max_bytes));
    };
    CHECK(said(OwnedLayout()) == "nothing to move");
    CHECK(said(block_of(100)) == "a copy: one block");
    CHECK(said(strided(8, 10, 24)) == "pack_s_w8");
    CHECK(said(matrix(40, 40, 4)) == "pack_ss_w4, transposed in tiles");
    CHECK(said(strided(17, 200, 24)) == "pack_s_w1, unpacked in 3 stores");
    CHECK(said(listed(8, {0, 24, 40, 88})) == "pack_b_w8, lists of 16 bytes");
    CHECK(said(listed(8, {0, 24, 40, 88}), 0) ==
          "pack_interpreter: a walk over 2 nodes for each run of bytes");
}

TEST_CASE_METHOD(OnBackend, "a copy of more words than positions is one launch for each half") {
    // Along a level.
    const OwnedLayout block = block_of(8);
    const auto apart = backend.plan(block, 16, true), further = backend.plan(block, 24, true);
    const uint64_t count = max_positions + 7, half = count / 2;
    auto copies = copies_of_rows(backend, *apart, *further, count, 8 * count);
    REQUIRE(copies.size() == 2);
    CHECK(copies[0].from == from_here);
    CHECK(copies[0].to == to_there);
    CHECK(copies[0].words == half);
    CHECK(copies[1].from == from_here + 16 * half);
    CHECK(copies[1].to == to_there + 24 * half);
    CHECK(copies[1].words == count - half);
    // A block, in words of a byte, or of 16.
    for (const uint64_t word : {1, 16}) {
        const uint64_t bytes = word * (max_positions + 5), first = word * ((max_positions + 5) / 2);
        const OwnedLayout large = block_of(bytes);
        const auto plan = backend.plan(large, static_cast<std::int64_t>(bytes));
        copies = copies_of_rows(backend, *plan, *plan, 1, bytes);
        REQUIRE(copies.size() == 2);
        CHECK(copies[0].from == from_here);
        CHECK(copies[0].to == to_there);
        CHECK(copies[1].from == from_here + first);
        CHECK(copies[1].to == to_there + first);
        uint64_t words = 0;
        for (const CopyRowsParams &copy : copies) words += copy.words;
        if (word == 16) CHECK(words == bytes / word);
    }
    // One less is one launch.
    CHECK(copies_of_rows(backend, *apart, *further, max_positions - 1, 8 * (max_positions - 1))
              .size() == 1);
}

TEST_CASE_METHOD(OnBackend,
                 "a conversion of more elements than positions is one launch for each half") {
    const OwnedLayout wide = block_of(4), narrow = block_of(2);
    const auto apart = backend.plan(wide, 16, true), further = backend.plan(narrow, 24, true);
    const auto conversions = [&](uint64_t count) {
        Move move = nowhere(*apart, *further, count, 4 * count);
        move.op = Op::convert;
        move.from_element = Element::float32;
        move.to_element = Element::bfloat16;
        return launched<ConvertParams>(backend, move);
    };
    const uint64_t count = max_positions + 7, half = count / 2;
    const auto halves = conversions(count);
    REQUIRE(halves.size() == 2);
    CHECK(halves[0].from == from_here);
    CHECK(halves[0].to == to_there);
    CHECK(halves[0].words == half);
    CHECK(halves[1].from == from_here + 16 * half);
    CHECK(halves[1].to == to_there + 24 * half);
    CHECK(halves[1].words == count - half);
    CHECK(conversions(max_positions - 1).size() == 1);
}

namespace {

// Only kernels that had been loaded, and at least one.
void check_launched(const std::set<std::string> &loaded, std::size_t members) {
    const std::vector<std::string> launched = kernels_launched();
    CHECK_FALSE(launched.empty());
    for (const std::string &kernel : launched) {
        INFO(kernel << ", " << members << " members");
        CHECK(loaded.count(kernel) == 1);
    }
}

} // namespace

TEST_CASE("a copy that any layout can have fails with the upload of its lists") {
    Rng rng(2);
    const OwnedLayout layout = listed(8, {0, 24, 40, 88});
    for (int nth = 1;; ++nth) {
        FreshBackend backend;
        // Without memory for lists: the kernel reads the layouts.
        const auto from = backend.plan(layout, 0, false, 0), to = backend.plan(layout, 0, false, 0);
        DeviceBytes source(96), target(96);
        source.fill(rng);
        target.fill(rng);
        std::vector<char> expected = target.get();
        const std::vector<char> values = source.get();
        for (const std::ptrdiff_t at : {0, 24, 40, 88})
            std::copy_n(values.begin() + at, 8, expected.begin() + at);
        const Move move =
            copy_of({from.get(), source.at(0), 1, 0}, {to.get(), target.at(0), 1, 0}, 32);
        const std::vector<char> before = target.get();
        (void)kernels_launched();
        mock::knobs.failing_launch = nth;
        Owner<Event> done;
        const Status status = backend->launch(0, std::span(&move, 1), done);
        if (mock::knobs.failing_launch.exchange(0) > 0) {
            CHECK(nth == 4); // two lists, and the kernel
            REQUIRE(status.ok());
            REQUIRE(FreshBackend::wait(done).ok());
            CHECK(kernels_launched() == std::vector<std::string>{"copy_interpreters"});
            CHECK(target.get() == expected);
            return;
        }
        CHECK(status.code() == UCD_ERR__DEVICE);
        CHECK(target.get() == before);
    }
}

TEST_CASE_METHOD(OnBackend,
                 "a stream that is captured launches kernels only that preparing has loaded") {
    const OwnedLayout layouts[] = {strided(4, 40, 12), listed(4, {0, 12, 40}), matrix(40, 40, 4),
                                   strided(17, 100, 24)};
    for (const OwnedLayout &layout : layouts)
        for (const Op op : {Op::replace, Op::sum})
            for (const std::size_t members : {1, 4, 200})
                for (const std::size_t odd : {0, 1}) {
                    if (op == Op::sum && layout->nodes[0].bytes % 4 != 0) continue;
                    const auto plan = backend.plan(layout);
                    const auto move_to = [&](Direction direction) {
                        Move move = move_of(*plan, reinterpret_cast<char *>(from_here + odd),
                                            reinterpret_cast<char *>(to_there + odd),
                                            layout->top().bytes, direction);
                        move.op = op;
                        move.elements = op == Op::sum ? &unsigned_ints : nullptr;
                        return move;
                    };
                    Capture capture;
                    (void)kernels_loaded();
                    REQUIRE(backend->prepare(capture.native(), move_to(Direction::pack)).ok());
                    const std::set<std::string> loaded = kernels_loaded();
                    for (const Direction direction : {Direction::pack, Direction::unpack}) {
                        const std::vector<Move> moves(members, move_to(direction));
                        (void)kernels_launched();
                        REQUIRE(backend->launch_in(capture.native(), moves, nullptr).ok());
                        check_launched(loaded, members);
                    }
                }
}

TEST_CASE("a prepared launch starts kernels only that preparing it has loaded") {
    const OwnedLayout layouts[] = {strided(4, 40, 12), listed(4, {0, 12, 40}), matrix(40, 40, 4)};
    for (const OwnedLayout &layout : layouts)
        for (const std::size_t members : {1, 4, 200}) {
            FreshBackend backend;
            const auto plan = backend.plan(layout);
            const std::vector<Move> moves(
                members, move_of(*plan, reinterpret_cast<char *>(from_here),
                                 reinterpret_cast<char *>(to_there), layout->top().bytes));
            ucd::Owner<PreparedLaunch> prepared;
            (void)kernels_loaded();
            REQUIRE(backend->prepare_launch(0, moves, prepared).ok());
            const std::set<std::string> loaded = kernels_loaded();
            Capture capture;
            (void)kernels_launched();
            REQUIRE(backend->launch_prepared_in(capture.native(), *prepared, nullptr).ok());
            check_launched(loaded, members);
        }
}

} // namespace gpu_launches_test
