#include "launch/launch_context.h"

#include "plan/make_divisor.h"

namespace ucd::UCD_GPU {

Status use_interpreter(const LaunchContext &launch, Interpreter &interpreter,
                       InterpretedLayout &layout) {
    layout.nodes = interpreter.host.nodes;
    layout.root = interpreter.host.root;
    return launch.use(interpreter.lists, layout.lists);
}

Status describe_nest(const LaunchContext &launch, NestParams &params, LevelKind *kinds) {
    const Shape &shape = launch.plan().shape;
    uint64_t address = 0;
    if (launch.gpu_plan().lists != nullptr) UCD_TRY(launch.use(*launch.gpu_plan().lists, address));
    for (unsigned k = 0; k < shape.levels; ++k) {
        params.level[k] = {make_divisor(shape.level[k].each / launch.word),
                           static_cast<int32_t>(shape.level[k].stride / int64_t{launch.word})};
        params.list[k] = nest_list(shape.level[k], launch.word, address);
        kinds[k] = shape.level[k].kind;
    }
    params.typed = launch.typed();
    const uint64_t skipped =
        skip_children(shape.level[0], launch.move.offset, params.typed, params.list[0]);
    const Vectors vectors(launch.packed(), launch.move.length);
    params.packed = vectors.start;
    params.vectors = static_cast<uint32_t>(vectors.count);
    params.head = vectors.head;
    params.tail = vectors.tail;
    // A multiple of the word's size; negative if vector 0 begins before the stream.
    const auto position =
        static_cast<int64_t>(launch.move.offset - skipped) - static_cast<int64_t>(vectors.head);
    params.first_word = static_cast<uint32_t>(position / static_cast<int64_t>(launch.word));
    return success;
}

} // namespace ucd::UCD_GPU
