#include "preload/planned_moves.h"

namespace ucd_mpi {

int move_once(Direction direction, const std::vector<PackedRange> &ranges) {
    for (const PackedRange &range : ranges) {
        const int rc = direction == Direction::pack
                           ? range.typed->pack(range.packed, range.offset, range.bytes)
                           : range.typed->unpack(range.packed, range.bytes);
        if (rc != UCD_SUCCESS) return rc;
    }
    return UCD_SUCCESS;
}

PlannedMoves::PlannedMoves(Direction direction, const std::vector<PackedRange> &ranges) {
    if (ranges.empty()) return;
    std::vector<ucd_move_t> moves;
    for (const PackedRange &range : ranges) {
        moves.push_back(direction == Direction::pack
                            ? range.typed->packing(range.packed, range.offset, range.bytes)
                            : range.typed->unpacking(range.packed, range.bytes));
        counted_.push_back({range.typed->statistics_row(), range.bytes});
    }
    call_ = ranges.front().typed->call();
    if (ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, UCD_OP__REPLACE, &plan_) !=
        UCD_SUCCESS)
        plan_ = UCD_PLAN__NULL;
}

int PlannedMoves::move() const {
    ucd_request_t request = UCD_REQUEST__NULL;
    const int rc = ucd_plan_start(plan_, &request);
    return rc == UCD_SUCCESS && request != UCD_REQUEST__NULL ? ucd_wait(&request) : rc;
}

int PlannedMoves::run() const {
    if (!settings().statistics) [[likely]]
        return move();
    const auto begin = std::chrono::steady_clock::now();
    const int rc = move();
    const auto time = std::chrono::steady_clock::now() - begin;
    // All ranges are moved at once, so that each has its share of the time.
    double bytes = 0;
    for (const Counted &counted : counted_) bytes += static_cast<double>(counted.bytes);
    for (const Counted &counted : counted_)
        count_moved(call_, counted.row, rc == UCD_SUCCESS ? counted.bytes : 0,
                    std::chrono::duration_cast<std::chrono::nanoseconds>(
                        time * (static_cast<double>(counted.bytes) / bytes)));
    return rc;
}

} // namespace ucd_mpi
