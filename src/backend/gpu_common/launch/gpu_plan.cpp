#include "launch/gpu_plan.h"

#include "kernels/nest_kernels.h"
#include "plan/move_range.h"
#include "tuning.h"

namespace ucd::UCD_GPU {
namespace {

std::unique_ptr<DeviceLists> on_devices(const std::vector<char> &lists) {
    return lists.empty() ? nullptr : std::make_unique<DeviceLists>(lists);
}

} // namespace

GpuPlan::GpuPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes)
    : host(layout, extent, repeated, max_bytes, tuning), lists(on_devices(host.lists)),
      aligned_stores(on_devices(host.aligned_stores)) {}

bool GpuPlan::may_need_interpreter(uint64_t count) const {
    const Shape &shape = host.shape;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (!fits_level(shape.level[k], 0)) return true;
    return shape.levels == 0 || host.size * count + vector_bytes >= max_positions;
}

// Without lists, all data is in the kernel's parameters.
bool GpuPlan::is_needed_by(const Move &move) const {
    if (move.op != Op::replace) return true;
    if (host.contiguous) return false;
    if (host.layout.moved_once)
        return true; // with it, the memory that the list is uploaded from is kept
    return lists != nullptr || aligned_stores != nullptr ||
           may_need_interpreter(move.typed().count);
}

std::string GpuPlan::description() const {
    if (host.size == 0) return "nothing to move";
    if (host.contiguous) return "a copy: one block";
    const Shape &shape = host.shape;
    if (shape.levels == 0)
        return "pack_interpreter: a walk over " + std::to_string(host.layout.nodes.size()) +
               " nodes for each run of bytes";
    LevelKind kinds[max_levels];
    for (unsigned k = 0; k < shape.levels; ++k) kinds[k] = shape.level[k].kind;
    std::string text = nest_kernel(Direction::pack, {kinds, shape.levels}, host.word).name;
    if (host.permuted_word > 0) text += ", transposed in tiles";
    if (aligned_stores != nullptr)
        text += ", unpacked in " + std::to_string(host.stores) + " stores";
    if (host.layout.has_reference()) text += ", indices where they lie";
    if (host.layout.moved_once) text += ", a list that is uploaded with the move";
    if (lists != nullptr) text += ", lists of " + std::to_string(host.lists.size()) + " bytes";
    return text;
}

std::size_t GpuPlan::memory() const {
    std::size_t bytes = sizeof *this + host.lists.size() + host.aligned_stores.size();
    for (const auto *lazy : {&interpreter_, &elements_interpreter_})
        if (const Interpreter *made = lazy->peek()) bytes += made->host.bytes.size();
    bytes += BoxIndex::memory_for(host.layout); // which may be made at any time
    return bytes;
}

} // namespace ucd::UCD_GPU
