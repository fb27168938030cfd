// From a plan to its entry in a table.
#pragma once

#include "plan.h"
#include "table_shape.h"

#include <vector>

namespace ucd::UCD_GPU {

// `image`: where the plan's lists are, if it has any. Adds to the table's lists.
TableShape nest_shape(const GpuPlan &plan, uint32_t word, const char *image,
                      std::vector<NestList> &lists);

TableShape program_shape(const GpuPlan::Program &program, uint32_t word, const char *image,
                         uint64_t position);

} // namespace ucd::UCD_GPU
