#include "launch/launch_context.h"

#include "plan/lists.h"
#include "plan/make_divisor.h"

namespace ucd::UCD_GPU {

Status use_interpreter(const LaunchTarget &to, Interpreter &interpreter,
                       InterpretedLayout &layout) {
    layout.nodes = interpreter.host.nodes;
    layout.root = interpreter.host.root;
    return to.use(interpreter.lists, layout.lists);
}

namespace {

// A list that is moved once is not kept on the device: it is written into the memory of a table, as
// those of batches, and uploaded in front of the kernel.
Status upload_list(LaunchTarget &to, const LayoutPlan &plan, uint64_t &address) {
    const Span<const int64_t> displs = plan.layout.tables[plan.layout.top().table].displs;
    const uint32_t unit = plan.shape.level[0].displacement_unit;
    const std::size_t bytes = displs.size() * (unit > 0 ? sizeof(int32_t) : sizeof(int64_t));
    BatchUse table;
    UCD_TRY(to.device().tables().take(to.device(), bytes, table));
    gpu::write_displacements(displs, unit, table.pinned());
    return to.upload(std::move(table), bytes, address);
}

} // namespace

Status use_lists(LaunchTarget &to, const GpuPlan &plan, uint64_t &address) {
    address = 0;
    if (plan.lists != nullptr) return to.use(*plan.lists, address);
    if (plan.host.layout.moved_once) return upload_list(to, plan.host, address);
    return success;
}

Status describe_nest(const LaunchContext &launch, NestParams &params, LevelKind *kinds) {
    const Shape &shape = launch.plan().shape;
    uint64_t address = 0;
    UCD_TRY(use_lists(launch.to, launch.gpu_plan(), address));
    for (unsigned k = 0; k < shape.levels; ++k) {
        params.level[k] = {make_divisor(shape.level[k].each / launch.word),
                           static_cast<int32_t>(shape.level[k].stride / int64_t{launch.word})};
        params.list[k] = nest_list(shape.level[k], launch.word, address);
        kinds[k] = shape.level[k].kind;
    }
    params.typed = launch.typed();
    const uint64_t skipped =
        skip_children(shape.level[0], launch.side.offset, params.typed, params.list[0]);
    launch.put_vectors(params);
    // A multiple of the word's size; negative if vector 0 begins before the stream.
    const auto position =
        static_cast<int64_t>(launch.side.offset - skipped) - static_cast<int64_t>(params.head);
    params.first_word = static_cast<uint32_t>(position / static_cast<int64_t>(launch.word));
    return success;
}

} // namespace ucd::UCD_GPU
