// Plans for the device code of ucd_device.h.
#pragma once

#include "plan/layout_plan.h"

#include <ucd_device.h>

#include <vector>

namespace ucd::gpu {

struct DevicePlan {
    ucd_device_plan_t plan; // the addresses of lists are offsets in `lists`
    std::vector<char> lists;
};

// `count` repetitions of the layout, `extent` bytes apart. Layouts of up to four strided levels
// have no lists. Lists take at most `max_bytes`, unless it cannot be done with so few.
DevicePlan make_device_plan(const Layout &layout, int64_t extent, uint64_t count,
                            uint64_t max_bytes, const Tuning &tuning);

// Sets the addresses of the lists, which start at `address` in device memory.
void place_lists(ucd_device_plan_t &plan, uint64_t address);

} // namespace ucd::gpu
