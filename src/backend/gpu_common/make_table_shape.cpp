#include "make_table_shape.h"

#include "job_range.h"

#include <bit>

namespace ucd::UCD_GPU {

TableShape nest_shape(const GpuPlan &plan, uint32_t word, const char *image,
                      std::vector<NestList> &lists) {
    TableShape shape{};
    shape.shift = static_cast<uint32_t>(std::countr_zero(word));
    if (plan.contiguous) return shape;
    shape.levels = plan.shape.levels;
    shape.lists = static_cast<uint32_t>(lists.size());
    for (unsigned k = 0; k < plan.shape.levels; ++k) {
        const ShapeLevel &level = plan.shape.level[k];
        shape.kinds |= static_cast<uint32_t>(level.kind) << (2 * k);
        shape.level[k] = {Divisor(level.each / word),
                          static_cast<int32_t>(level.stride / int64_t{word})};
        if (image != nullptr) lists.push_back(nest_list(level, word, image));
    }
    return shape;
}

TableShape program_shape(const GpuPlan::Program &program, uint32_t word, const char *image,
                         uint64_t position) {
    TableShape shape{};
    shape.levels = TableShape::program;
    shape.shift = static_cast<uint32_t>(std::countr_zero(word));
    shape.lists = program.root;
    shape.program_at = {reinterpret_cast<uintptr_t>(image), program.nodes, position};
    return shape;
}

} // namespace ucd::UCD_GPU
