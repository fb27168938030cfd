// Makes a table's entry from a plan.
#pragma once

#include "params/table_shape.h"
#include "plan/layout_plan.h"

#include <vector>

namespace ucd::gpu {

// `address` is that of the plan's lists on the device, if it has any. Adds to the table's lists.
TableShape nest_shape(const LayoutPlan &plan, uint32_t word, uint64_t address,
                      std::vector<NestList> &lists);

// `address` is that of `interpreted` on the device.
TableShape interpreter_shape(const InterpreterLists &interpreted, uint32_t word, uint64_t address,
                             uint64_t position);

} // namespace ucd::gpu
