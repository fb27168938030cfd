// From a plan to its entry in a table.
#pragma once

#include "params/table_shape.h"
#include "plan/layout_plan.h"

#include <vector>

namespace ucd::gpu {

// `address`: where the plan's lists are on the device, if it has any. Adds to the table's lists.
TableShape nest_shape(const LayoutPlan &plan, uint32_t word, uint64_t address,
                      std::vector<NestList> &lists);

// `address`: where `interpreted` is on the device.
TableShape interpreter_shape(const InterpreterLists &interpreted, uint32_t word, uint64_t address,
                             uint64_t position);

} // namespace ucd::gpu
