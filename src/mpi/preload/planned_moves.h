// The packs, or the unpacks, of a persistent request: the same at each start.
#pragma once

#include "preload/message.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ucd_mpi {

// A range of the packed stream of a typed buffer, and the packed memory for it.
struct PackedRange {
    const MessageBuffer *typed = nullptr;
    void *packed = nullptr;
    std::uintptr_t offset = 0, bytes = 0;
};

enum class PlannedDirection { pack, unpack };

// Moves all ranges; those of data in device memory by one call, and so by one launch. Returns a
// status of ucd.h.
int move_once(PlannedDirection direction, const std::vector<PackedRange> &ranges);

// A plan of ucd.h for all ranges together.
class PlannedMoves {
public:
    PlannedMoves() = default;
    // Empty if there are no ranges, or if libucd fails to make the plan.
    PlannedMoves(PlannedDirection direction, const std::vector<PackedRange> &ranges);
    PlannedMoves(PlannedMoves &&other) noexcept
        : plan_(std::exchange(other.plan_, UCD_PLAN__NULL)), call_(other.call_),
          bytes_(other.bytes_) {}
    PlannedMoves &operator=(PlannedMoves &&other) noexcept {
        std::swap(plan_, other.plan_);
        std::swap(call_, other.call_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~PlannedMoves() {
        if (plan_ != UCD_PLAN__NULL) (void)ucd_plan_free(&plan_);
    }

    explicit operator bool() const { return plan_ != UCD_PLAN__NULL; }
    // Moves the data of all ranges. Returns a status of ucd.h.
    int run() const;

private:
    ucd_plan_t plan_ = UCD_PLAN__NULL;
    Call call_ = {};
    std::uintptr_t bytes_ = 0;
};

} // namespace ucd_mpi
