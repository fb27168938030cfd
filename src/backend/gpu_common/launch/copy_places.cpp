#include "launch/copy_places.h"

#include "plan/make_divisor.h"
#include "plan/make_table_shape.h"
#include "plan/move_range.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ucd::UCD_GPU {
namespace {

// Fills in a side's entry of the table, the address that its units are counted from, and the number
// of the unit at which the range begins.
Status describe_places(LaunchTarget &target, const PlannedSide &side, uint64_t offset,
                       uint32_t unit, TableShape &shape, std::vector<NestList> &lists,
                       uint64_t &typed, uint32_t &first) {
    uint64_t address = 0;
    UCD_TRY(use_lists(target, side.gpu_plan(), address));
    shape = nest_shape(side.plan(), unit, address, lists);
    uintptr_t from_here = side.typed();
    uint64_t skipped = offset;
    if (side.plan().contiguous) {
        from_here += offset;
    } else {
        NestList none{};
        NestList &outermost = is_listed(side.plan().shape) ? lists[shape.lists] : none;
        skipped = skip_children(side.plan().shape.level[0], offset, from_here, outermost);
    }
    typed = from_here;
    first = static_cast<uint32_t>((offset - skipped) / unit);
    return success;
}

// The units of the innermost children, which are contiguous; 0 if everything is.
uint64_t units_of_row(const PlannedSide &side, uint32_t unit) {
    const Shape &shape = side.plan().shape;
    return side.plan().contiguous ? 0 : shape.level[shape.levels - 1].each / unit;
}

} // namespace

PlacedNest PlacedNest::split() {
    PlacedNest second = *this;
    const auto longest = std::max_element(
        nest.levels.begin(), nest.levels.end(),
        [](const CopyNest::Level &a, const CopyNest::Level &b) { return a.count < b.count; });
    if (longest == nest.levels.end() || nest.block / word() > longest->count) {
        const uint64_t half = nest.block / 2 / word() * word();
        nest.block = half;
        second.nest.block -= half;
        second.from += half;
        second.to += half;
    } else {
        const uint64_t half = longest->count / 2;
        second.nest.levels[static_cast<std::size_t>(longest - nest.levels.begin())].count -= half;
        longest->count = half;
        second.from += half * static_cast<uint64_t>(longest->from);
        second.to += half * static_cast<uint64_t>(longest->to);
    }
    return second;
}

void NestParts::next() {
    is_over_ = rest_.empty();
    if (is_over_) return;
    part_ = rest_.back();
    rest_.pop_back();
    shorten();
}

bool fits_places(const PlannedSide &side, Slice range, uint32_t unit) {
    if (side.plan().contiguous) return range.length / unit < max_positions;
    return fits_nest(side.plan().shape, skipped_bytes(side.plan().shape, range.offset), range,
                     unit);
}

Status describe_rows(LaunchTarget &target, const PlannedSide &from, const PlannedSide &to,
                     const CopyRange &range, const CopyUnits &units, CopyPlacesParams &params) {
    std::vector<NestList> lists;
    UCD_TRY(describe_places(target, from, range.from, units.from, params.table.shape[0], lists,
                            params.from, params.first_from));
    UCD_TRY(describe_places(target, to, range.to, units.to, params.table.shape[1], lists, params.to,
                            params.first_to));
    std::copy(lists.begin(), lists.end(), params.table.list);
    uint64_t row = std::gcd(units_of_row(from, units.from), units_of_row(to, units.to));
    // performance only: where both sides are contiguous, rows of one unit would do
    if (row == 0) row = range.length / units.from;
    // performance only: rows of one unit describe every range
    if (row == 0 || row >= max_positions) row = 1;
    // A contiguous side is counted from where the other side's row begins.
    if (from.plan().contiguous) {
        params.first_from = static_cast<uint32_t>(params.first_to % row);
        params.from -= uint64_t{params.first_from} * units.from;
    } else if (to.plan().contiguous) {
        params.first_to = static_cast<uint32_t>(params.first_from % row);
        params.to -= uint64_t{params.first_to} * units.to;
    }
    // performance only: see above
    if (params.first_from % row != params.first_to % row) row = 1;
    params.before = static_cast<uint32_t>(params.first_from % row);
    params.first_from -= params.before;
    params.first_to -= params.before;
    params.row = make_divisor(row);
    params.row_units = static_cast<uint32_t>(row);
    return success;
}

} // namespace ucd::UCD_GPU
