#include "plan/tiles.h"

#include "plan/magnitude.h"
#include "plan/make_divisor.h"

#include <algorithm>
#include <bit>

namespace ucd::gpu {
namespace {

using Level = CopyNest::Level;
using Levels = CopyNest::Levels;
using Stride = int64_t Level::*;

uint32_t in_cell(uint32_t bytes) {
    return std::max<uint32_t>(cell_bytes / bytes, 1);
}

// The columns or the rows of tiles, the fastest level first, and what is to be decided about them.
struct TileSide {
    Stride stride;
    uint32_t bytes; // of an element
    uint64_t unit;  // the usual number of elements of a tile
    Levels levels;
    uint64_t count = 1;

    TileSide(Stride s, uint32_t b)
        : stride(s), bytes(b), unit(in_cell(b) << (tile_cell_bits / 2)) {}

    void add(const Level &level) {
        levels.push_back(level);
        count *= level.count;
    }
    // Whether whole tiles have most of the elements.
    bool is_enough() const {
        const uint64_t covered = (count + unit - 1) / unit * unit;
        return count >= unit && 8 * count >= 7 * covered;
    }
    bool continues(const Level &next) const {
        return next.*stride == static_cast<int64_t>(count * bytes);
    }
    uint32_t runs() const {
        uint64_t run = 1;
        for (const Level &level : levels) {
            if (level.*stride != static_cast<int64_t>(run * bytes)) break;
            run *= level.count;
        }
        if (run == count) return one_run;
        return run % in_cell(bytes) == 0 ? runs_of_cells : no_runs;
    }
    uint64_t cells() const { return (count + in_cell(bytes) - 1) / in_cell(bytes); }
};

Level *fastest(Levels &levels, Stride stride) {
    return std::min_element(levels.begin(), levels.end(), [stride](const Level &a, const Level &b) {
        return magnitude(a.*stride) < magnitude(b.*stride);
    });
}

// Sides whose fastest level is too short for a tile get further ones, the emptier side first: those
// that continue its levels, or else those whose neighbours are closest.
void extend(TileSide &columns, TileSide &rows, uint64_t least, Levels &rest) {
    while (rest.size() > 0) {
        const bool columns_first = columns.count * rows.unit <= rows.count * columns.unit;
        TileSide *side = columns_first ? &columns : &rows,
                 *other = columns_first ? &rows : &columns;
        if (side->is_enough()) std::swap(side, other);
        if (side->is_enough()) return;
        Level *next = std::find_if(rest.begin(), rest.end(),
                                   [&](const Level &level) { return side->continues(level); });
        if (next == rest.end()) next = fastest(rest, side->stride);
        if (side->count >= least && !other->is_enough() && !side->continues(*next) &&
            other->continues(*next))
            side = other;
        if (side->count * next->count >= divisible_limit) return;
        side->add(*next);
        rest.erase(next);
    }
}

Levels outermost_first(const Levels &levels) {
    Levels reversed;
    for (std::size_t k = levels.size(); k-- > 0;) reversed.push_back(levels[k]);
    return reversed;
}

// The levels around tiles. Those whose neighbours are close on some side come last, so that what
// tiles leave of cache lines, or of pages of memory, is used soon.
void sort_around(Levels &levels) {
    const auto shorter = [](const Level &level) {
        return std::min(magnitude(level.from), magnitude(level.to));
    };
    std::sort(levels.begin(), levels.end(),
              [&](const Level &a, const Level &b) { return shorter(a) > shorter(b); });
}

// The logarithm of the number of cells in a row of a tile: a side with few cells gets a short side.
uint32_t bits_of_rows(uint64_t column_cells, uint64_t row_cells) {
    constexpr uint32_t half = tile_cell_bits / 2;
    const auto bits = [](uint64_t cells) {
        return std::max(min_side_bits, static_cast<uint32_t>(std::bit_width(cells - 1)));
    };
    const uint32_t wide = bits(column_cells), high = bits(row_cells);
    if (wide < half && high > half) return wide;
    if (high < half && wide > half) return tile_cell_bits - high;
    return half;
}

} // namespace

void PackedNest::reverse() {
    for (Level &level : nest.levels) std::swap(level.from, level.to);
}

bool cover_range(const CopySide &side, uint64_t length, PackedNest &packed) {
    uint64_t offset = side.offset;
    const Node *n = &side.top;
    for (; n->kind == NodeKind::strided; n = &side.layout.nodes[n->child]) {
        const uint64_t each = side.layout.nodes[n->child].bytes;
        uint64_t count = n->count;
        if (packed.nest.levels.size() == 0) {
            const uint64_t first = offset / each;
            count = (offset + length - 1) / each - first + 1;
            packed.start = displace(packed.start, first, n->stride);
            packed.position += first * each;
            offset -= first * each;
            if (count == 1) continue;
            if (count * each / 2 > length) return false;
        }
        if (packed.nest.levels.size() == CopyNest::max_of_a_side) return false;
        packed.nest.levels.push_back({count, n->stride, static_cast<int64_t>(each)});
    }
    packed.nest.block = n->bytes;
    return n->kind == NodeKind::block && packed.nest.levels.size() > 1;
}

void put_levels(const Levels &levels, uint64_t each, CopyLevel *to) {
    for (std::size_t k = levels.size(); k-- > 0; each *= levels[k].count)
        to[k] = {make_divisor(each), 0, levels[k].from, levels[k].to};
}

bool make_tiles(const Levels &levels, ElementBytes bytes, const Tuning &tuning,
                TilesParams &params) {
    Levels rest = levels;
    Level *const column = fastest(rest, &Level::from), *const row = fastest(rest, &Level::to);
    const uint64_t sector = tuning.sector_bytes;
    // performance only: other ways move the same elements
    if (column == row || magnitude(column->from) > sector / 2 || magnitude(column->to) <= sector ||
        magnitude(row->to) > sector / 2 || magnitude(row->from) <= sector)
        return false;
    TileSide columns(&Level::from, bytes.from), rows(&Level::to, bytes.to);
    if (column->count >= divisible_limit || row->count >= divisible_limit) return false;
    columns.add(*column);
    rows.add(*row);
    rest.erase(std::max(column, row));
    rest.erase(std::min(column, row));
    extend(columns, rows, tuning.min_tiled, rest);
    // performance only: the same
    if (columns.count < tuning.min_tiled || rows.count < tuning.min_tiled) return false;

    sort_around(rest);
    params = {};
    params.columns = static_cast<uint32_t>(columns.count);
    params.rows = static_cast<uint32_t>(rows.count);
    params.source_runs = columns.runs();
    params.target_runs = rows.runs();
    params.wide = bits_of_rows(columns.cells(), rows.cells());
    const auto tiles_along = [](uint64_t cells, uint32_t bits) {
        return ((cells - 1) >> bits) + 1;
    };
    const uint64_t column_tiles = tiles_along(columns.cells(), params.wide),
                   row_tiles = tiles_along(rows.cells(), tile_cell_bits - params.wide);
    Wide tiles = Wide{column_tiles} * row_tiles;
    for (const Level &level : rest) tiles *= level.count; // less than 2^64 elements
    if (tiles >= divisible_limit) return false;
    params.column_tiles = make_divisor(column_tiles);
    params.row_tiles = make_divisor(row_tiles);
    params.tiles = static_cast<uint32_t>(tiles);
    params.column_levels = static_cast<uint32_t>(columns.levels.size());
    params.row_levels = static_cast<uint32_t>(rows.levels.size());
    params.outer_levels = static_cast<uint32_t>(rest.size());
    CopyLevel *const row_levels = params.level + params.column_levels;
    put_levels(outermost_first(columns.levels), 1, params.level);
    put_levels(outermost_first(rows.levels), 1, row_levels);
    put_levels(rest, 1, row_levels + params.row_levels);
    return true;
}

namespace {

// Tiles of channels, whose elements are next to each other on the side `together`.
bool make_channels(const Levels &levels, const TilePlace &at, uint32_t bytes, Stride together,
                   Stride apart, TilesParams &params) {
    // The vectors of a line are one level more than there was.
    if (levels.size() < 2 || levels.size() >= max_copy_levels) return false;
    Levels rest = levels;
    Level *const channels = fastest(rest, together), *const positions = fastest(rest, apart);
    const Level channel = *channels, position = *positions;
    const auto is_next = [bytes](int64_t stride, uint64_t elements) {
        return stride == static_cast<int64_t>(elements * bytes);
    };
    // performance only: other ways move the same elements
    if (channels == positions || bytes >= cell_bytes || channel.count < 2 ||
        channel.count > max_channels || !is_next(channel.*together, 1) ||
        !is_next(position.*apart, 1) || !is_next(position.*together, channel.count))
        return false;
    rest.erase(std::max(channels, positions));
    rest.erase(std::min(channels, positions));
    uint64_t bits =
        at.from | at.to | static_cast<uint64_t>(channel.*apart) | position.count * bytes;
    for (const Level &level : rest)
        bits |= static_cast<uint64_t>(level.from) | static_cast<uint64_t>(level.to);
    if (bits % vector_bytes != 0) return false;
    const uint64_t in_vector = vector_bytes / bytes;
    const auto along = [in_vector](int64_t stride) {
        return static_cast<int64_t>(in_vector) * stride;
    };
    sort_around(rest);
    rest.push_back({position.count / in_vector, along(position.from), along(position.to)});
    Wide vectors = 1; // less than 2^64 elements
    for (const Level &level : rest) vectors *= level.count;
    if (vectors >= divisible_limit) return false;
    params = {};
    params.channels = static_cast<uint32_t>(channel.count);
    params.columns = static_cast<uint32_t>(vectors);
    params.tiles = (params.columns - 1) / threads_per_block + 1;
    params.column_levels = params.row_levels = 1;
    params.outer_levels = static_cast<uint32_t>(rest.size());
    params.level[0] = {{}, 0, position.from, position.to};
    params.level[1] = {{}, 0, channel.from, channel.to};
    put_levels(rest, 1, params.level + 2);
    return true;
}

} // namespace

bool make_copy_tiles(const Levels &levels, const TilePlace &at, uint32_t bytes,
                     const Tuning &tuning, TilesParams &params) {
    return make_tiles(levels, {bytes, bytes}, tuning, params) ||
           make_channels(levels, at, bytes, &Level::to, &Level::from, params) ||
           make_channels(levels, at, bytes, &Level::from, &Level::to, params);
}

namespace {

// The side of tiles whose fastest level is made of cells.
struct CellSide {
    int64_t CopyLevel::*stride;
    uint32_t width; // of an element
    uint64_t start;
    const CopyLevel *first; // level of the side
    uint32_t levels, elements, runs;
};

CellSide target_side(const TilesParams &params, uint32_t bytes) {
    const CopyLevel *const first = params.level + params.column_levels;
    return {&CopyLevel::to,    bytes,       params.to,         first,
            params.row_levels, params.rows, params.target_runs};
}

// The bits of the addresses at which runs of elements begin.
uint64_t bits_of_runs(const TilesParams &params, const CellSide &side) {
    uint64_t bits = side.start;
    const uint32_t all = params.column_levels + params.row_levels + params.outer_levels;
    for (uint32_t k = 0; k < all; ++k) {
        const CopyLevel &level = params.level[k];
        // Within a run, cells follow each other.
        const bool in_run =
            &level >= side.first && &level < side.first + side.levels && level.each.value != 0 &&
            level.*side.stride == static_cast<int64_t>(uint64_t{level.each.value} * side.width);
        if (!in_run) bits |= static_cast<uint64_t>(level.*side.stride);
    }
    return bits;
}

// Whether cells are whole and begin at multiples of their size.
bool has_whole_cells(const TilesParams &params, const CellSide &side) {
    const uint32_t elements = in_cell(side.width), cell = elements * side.width;
    if (elements > 1 && (side.runs == no_runs || side.elements % elements != 0)) return false;
    return bits_of_runs(params, side) % cell == 0;
}

} // namespace

void place_tiles(const TilePlace &at, ElementBytes bytes, TilesParams &params) {
    params.from = at.from;
    params.to = at.to;
    const CellSide source{&CopyLevel::from,     bytes.from,     at.from,           params.level,
                          params.column_levels, params.columns, params.source_runs};
    params.whole_cells = 0;
    if (params.limited != limit_source && has_whole_cells(params, source))
        params.whole_cells |= whole_in_source;
    if (params.limited == limit_nothing && has_whole_cells(params, target_side(params, bytes.to)))
        params.whole_cells |= whole_in_target;
}

bool make_windows(uint32_t bytes, const Tuning &tuning, TilesParams &params) {
    const CellSide target = target_side(params, bytes);
    const uint64_t sector = tuning.sector_bytes, slack = sector / bytes;
    const uint64_t bits = bits_of_runs(params, target);
    const uint64_t columns = in_cell(bytes) << window_wide(bytes, tuning.sector_bytes);
    const uint64_t rows = in_cell(bytes) << window_high(bytes, tuning.sector_bytes);
    constexpr uint64_t enough_columns = 64; // half of the widest tile
    // performance only: other tiles move the same elements
    if (target.runs != one_run || bits % sector == 0 || bits % bytes != 0 ||
        params.wide != tile_cell_bits / 2 || params.rows < rows ||
        params.columns < std::min(columns, enough_columns))
        return false;
    const uint64_t around = params.tiles / params.column_tiles.value / params.row_tiles.value;
    const uint64_t column_tiles = (params.columns + columns - 1) / columns;
    const uint64_t row_tiles = (params.rows + slack - 2) / (rows - slack) + 1;
    const Wide tiles = Wide{column_tiles} * row_tiles * around;
    if (tiles >= divisible_limit) return false;
    params.slack = static_cast<uint32_t>(slack);
    params.column_tiles = make_divisor(column_tiles);
    params.row_tiles = make_divisor(row_tiles);
    params.tiles = static_cast<uint32_t>(tiles);
    return true;
}

} // namespace ucd::gpu
