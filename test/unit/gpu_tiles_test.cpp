// Which moves are made in tiles or in tiles of windows, and how these are divided.
#include "plan/tiles.h"

#include "support/catch.hpp"
#include "unit/plan_tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace gpu_tiles_test {

using namespace ucd::gpu;
using ucdtest::tuning;

namespace {

// The sides of tiles of an array whose axes have these counts, the slowest first, when its axis
// order[i] is axis i of the packed array.
struct Tiled {
    TilesParams params{};
    bool pays = false;

    Tiled(uint32_t bytes, const std::vector<uint64_t> &counts, const std::vector<int> &order) {
        std::vector<int64_t> strides(counts.size());
        int64_t stride = bytes;
        for (std::size_t d = counts.size(); d-- > 0; stride *= static_cast<int64_t>(counts[d]))
            strides[d] = stride;
        CopyNest::Levels levels;
        for (const int d : order) {
            const auto axis = static_cast<std::size_t>(d);
            levels.push_back({counts[axis], strides[axis], 0});
        }
        stride = bytes;
        for (std::size_t i = levels.size(); i-- > 0;
             stride *= static_cast<int64_t>(levels[i].count))
            levels[i].to = stride;
        pays = make_tiles(levels, {bytes, bytes}, tuning, params);
    }
};

} // namespace

TEST_CASE("short axes are joined until tiles are full") {
    const Tiled reversed(4, {24, 24, 24, 24, 24}, {4, 3, 2, 1, 0});
    REQUIRE(reversed.pays);
    CHECK(reversed.params.columns == 24 * 24);
    CHECK(reversed.params.rows == 24 * 24);
    CHECK(reversed.params.source_runs == one_run);
    CHECK(reversed.params.target_runs == one_run);
    CHECK(reversed.params.column_levels == 2);
    CHECK(reversed.params.outer_levels == 1);
    CHECK(reversed.params.tiles == 18 * 18 * 24);

    // Long enough as they are; what is next to a line on either side is moved next.
    const Tiled long_axes(4, {32, 32, 32, 32, 32}, {4, 3, 2, 1, 0});
    REQUIRE(long_axes.pays);
    CHECK(long_axes.params.columns == 32);
    CHECK(long_axes.params.rows == 32);
    REQUIRE(long_axes.params.outer_levels == 3);
    const CopyLevel *outer = long_axes.params.level + 2;
    CHECK(outer[0].from == 4096);
    CHECK(std::min(outer[1].from, outer[1].to) == 128);
    CHECK(std::min(outer[2].from, outer[2].to) == 128);

    // The axis beyond the columns belongs to the rows, so another one is added.
    const Tiled between(4, {100, 16, 16}, {0, 2, 1});
    REQUIRE(between.pays);
    CHECK(between.params.columns * uint64_t{between.params.rows} == 1600 * 16);
    CHECK(std::max(between.params.columns, between.params.rows) == 1600);
    CHECK(between.params.outer_levels == 0);
}

TEST_CASE("a side with few elements gets a short side of the tiles") {
    for (const auto &[columns, rows, wide] : {std::tuple<uint64_t, uint64_t, uint32_t>{9, 5000, 4},
                                              {5000, 9, 6},
                                              {8, 5000, 3},
                                              {5000, 8, 7},
                                              {5000, 5000, 5},
                                              {9, 9, 5}}) {
        const Tiled tiled(8, {rows, columns}, {1, 0});
        REQUIRE(tiled.pays);
        CHECK(tiled.params.columns == columns);
        CHECK(tiled.params.wide == wide);
        const uint64_t high = uint64_t{1} << (tile_cell_bits - wide);
        CHECK(tiled.params.tiles == ((columns - 1 >> wide) + 1) * ((rows - 1) / high + 1));
    }
    // Cells of four single bytes.
    const Tiled bytes(1, {5000, 40}, {1, 0});
    REQUIRE(bytes.pays);
    CHECK(bytes.params.wide == 4);
    CHECK(bytes.params.source_runs == one_run);
    // An odd number of bytes on either side, in more than one run.
    const Tiled odd(1, {64, 33, 40, 37}, {0, 1, 3, 2});
    REQUIRE(odd.pays);
    CHECK(odd.params.source_runs == no_runs);
}

TEST_CASE("cells are whole only where all of them are aligned") {
    // Bytes, in cells of four. The stride of the rows' outer level decides. It is as long as if the
    // level continued a run of cells, but only levels of the columns do that in the source.
    for (const int64_t row : {37, 38, 40, 44}) {
        const auto rows = static_cast<uint64_t>(row);
        CopyNest::Levels levels;
        levels.push_back({36, 1, 8 * row});
        levels.push_back({8, row, row});
        levels.push_back({rows, 8 * row, 1});
        TilesParams params;
        REQUIRE(make_tiles(levels, {1, 1}, tuning, params));
        REQUIRE(params.columns == 36);
        REQUIRE(params.rows == 8 * rows);
        for (const uint64_t from : {4096, 4098}) {
            place_tiles({from, 8192}, {1, 1}, params);
            const bool whole = (params.whole_cells & whole_in_source) != 0;
            CHECK(whole == (row % 4 == 0 && from % 4 == 0));
        }
    }
}

TEST_CASE("tiles have windows that begin at sectors where the lines do not") {
    for (const auto &[bytes, slack, high] : {std::tuple<uint32_t, uint32_t, uint32_t>{1, 32, 128},
                                             {2, 16, 128},
                                             {4, 8, 64},
                                             {8, 4, 32},
                                             {16, 2, 32}}) {
        const auto place = [b = bytes](uint64_t rows, uint64_t to, TilesParams &params) {
            Tiled tiled(b, {rows, 2000}, {1, 0});
            REQUIRE(tiled.pays);
            params = tiled.params;
            place_tiles({4096, to}, {b, b}, params);
            return make_windows(b, tuning, params);
        };
        TilesParams params;
        CHECK_FALSE(place(2048, 4096, params));
        CHECK_FALSE(place(high - 1, 4096, params)); // lines that are shorter than windows
        CHECK(place(2048, 4096 + 16, params));
        REQUIRE(place(2049, 4096, params));
        CHECK(params.slack == slack);
        CHECK(params.row_tiles.value == (2049 + slack - 2) / (high - slack) + 1);
        CHECK(params.tiles == params.row_tiles.value * params.column_tiles.value);
    }
}

TEST_CASE("windows of single bytes have at least half as many columns as a tile") {
    for (const auto &[columns, has_windows] :
         {std::pair<uint64_t, bool>{65, true}, {100, true}, {200, true}, {63, false}}) {
        Tiled tiled(1, {2048, columns}, {1, 0});
        REQUIRE(tiled.pays);
        TilesParams params = tiled.params;
        place_tiles({4096, 4096 + 16}, {1, 1}, params);
        CHECK(make_windows(1, tuning, params) == has_windows);
    }
}

TEST_CASE("a line of channels adds no level to a nest that has all that there may be") {
    for (const std::size_t levels : {max_copy_levels - 1, max_copy_levels}) {
        CopyNest::Levels nest;
        int64_t stride = 1 << 20;
        for (std::size_t i = 2; i < levels; ++i, stride *= 2) nest.push_back({2, stride, stride});
        nest.push_back({256, 1, 3});
        nest.push_back({3, 4096, 1});
        TilesParams params;
        const bool made = make_copy_tiles(nest, {4096, 4096}, 1, tuning, params);
        CHECK(made == (levels < max_copy_levels));
        if (made) CHECK(params.outer_levels + 2 == levels + 1);
    }
}

} // namespace gpu_tiles_test
