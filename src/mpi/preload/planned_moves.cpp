#include "preload/planned_moves.h"

namespace ucd_mpi {

namespace {

// Returns the same ranges as moves of ucd.h.
std::vector<ucd_move_t> moves_of(PlannedDirection direction,
                                 const std::vector<PackedRange> &ranges) {
    std::vector<ucd_move_t> moves;
    moves.reserve(ranges.size());
    for (const PackedRange &range : ranges)
        moves.push_back(direction == PlannedDirection::pack
                            ? range.typed->packing(range.packed, range.offset, range.bytes)
                            : range.typed->unpacking(range.packed, range.bytes));
    return moves;
}

} // namespace

int move_once(PlannedDirection direction, const std::vector<PackedRange> &ranges) {
    if (ranges.size() > 1 && ranges.front().typed->on_device()) {
        std::vector<ucd_move_t> moves = moves_of(direction, ranges);
        for (const PackedRange &range : ranges) count_moved(range.typed->call(), range.bytes);
        return ucd_move(moves.data(), moves.size(), UCD_INFO__NULL, UCD_OP__REPLACE);
    }
    for (const PackedRange &range : ranges) {
        const int rc = direction == PlannedDirection::pack
                           ? range.typed->pack(range.packed, range.offset, range.bytes)
                           : range.typed->unpack(range.packed, range.bytes);
        if (rc != UCD_SUCCESS) return rc;
    }
    return UCD_SUCCESS;
}

PlannedMoves::PlannedMoves(PlannedDirection direction, const std::vector<PackedRange> &ranges) {
    if (ranges.empty()) return;
    std::vector<ucd_move_t> moves = moves_of(direction, ranges);
    for (const PackedRange &range : ranges) bytes_ += range.bytes;
    call_ = ranges.front().typed->call();
    if (ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL, UCD_OP__REPLACE, &plan_) !=
        UCD_SUCCESS)
        plan_ = UCD_PLAN__NULL;
}

int PlannedMoves::run() const {
    ucd_request_t request = UCD_REQUEST__NULL;
    int rc = ucd_plan_start(plan_, &request);
    if (rc == UCD_SUCCESS && request != UCD_REQUEST__NULL) rc = ucd_wait(&request);
    if (rc == UCD_SUCCESS) count_moved(call_, bytes_);
    return rc;
}

} // namespace ucd_mpi
