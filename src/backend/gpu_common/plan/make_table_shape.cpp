#include "plan/make_table_shape.h"

#include "plan/make_divisor.h"
#include "plan/move_range.h"

#include <bit>

namespace ucd::gpu {

TableShape nest_shape(const LayoutPlan &plan, uint32_t word, uint64_t address,
                      std::vector<NestList> &lists) {
    TableShape shape{};
    shape.shift = static_cast<uint32_t>(std::countr_zero(word));
    if (plan.contiguous) return shape;
    shape.levels = plan.shape.levels;
    shape.lists = static_cast<uint32_t>(lists.size());
    for (unsigned k = 0; k < plan.shape.levels; ++k) {
        const ShapeLevel &level = plan.shape.level[k];
        shape.kinds |= static_cast<uint32_t>(level.kind) << (2 * k);
        shape.at.level[k] = {make_divisor(level.each / word),
                             static_cast<int32_t>(level.stride / int64_t{word})};
        if (is_listed(plan.shape)) lists.push_back(nest_list(level, word, address));
    }
    return shape;
}

TableShape interpreter_shape(const InterpreterLists &interpreted, uint32_t word, uint64_t address,
                             uint64_t position) {
    TableShape shape{};
    shape.levels = levels_of_interpreter;
    shape.shift = static_cast<uint32_t>(std::countr_zero(word));
    shape.lists = interpreted.root;
    shape.at.interpreter = {address, interpreted.nodes, position};
    return shape;
}

} // namespace ucd::gpu
