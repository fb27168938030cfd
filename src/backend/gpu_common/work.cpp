#include "work.h"

namespace ucd::UCD_GPU {

Status use_tables(Work &work, Tables &tables, const char *&memory) {
    TableUse use;
    UCD_TRY(TableStore::instance().use(tables, work.device, work.stream, work.mode, memory, use));
    work.uses.push_back(std::move(use));
    if (work.noted != nullptr) work.noted->push_back({&tables, memory});
    return success;
}

Status use_program(Work &work, GpuPlan::Program &program, ProgramRef &ref) {
    ref.nodes = program.nodes;
    ref.root = program.root;
    return use_tables(work, program.tables, ref.image);
}

Status describe_nest(Work &work, NestParams &params, LevelKind *kinds) {
    const Shape &shape = work.plan.shape;
    const char *image = nullptr;
    if (work.plan.tables != nullptr) UCD_TRY(use_tables(work, *work.plan.tables, image));
    for (unsigned k = 0; k < shape.levels; ++k) {
        params.level[k] = {Divisor(shape.level[k].each / work.word),
                           static_cast<int32_t>(shape.level[k].stride / int64_t{work.word})};
        params.list[k] = nest_list(shape.level[k], work.word, image);
        kinds[k] = shape.level[k].kind;
    }
    params.laid_out = work.laid_out;
    const uint64_t skipped =
        skip_children(shape.level[0], work.job.offset, params.laid_out, params.list[0]);
    const Vectors vectors(work.packed, work.job.length);
    params.packed = vectors.start;
    params.vectors = static_cast<uint32_t>(vectors.count);
    params.head = vectors.head;
    params.tail = vectors.tail;
    // A whole number of words; negative where vector 0 starts before the stream does.
    const auto position =
        static_cast<int64_t>(work.job.offset - skipped) - static_cast<int64_t>(vectors.head);
    params.first_word = static_cast<uint32_t>(position / static_cast<int64_t>(work.word));
    return success;
}

} // namespace ucd::UCD_GPU
