#include "work.h"

#include <algorithm>

namespace ucd::UCD_GPU {

uint32_t grid_for(uint64_t tiles, const Limits &limits) {
    constexpr uint64_t most = (uint64_t{1} << 31) - 1;
    const uint64_t cap = limits.max_blocks > 0 ? limits.max_blocks : most;
    return static_cast<uint32_t>(std::min(tiles, cap));
}

Status use_tables(Work &work, Tables &tables, const char *&memory) {
    TableUse use;
    UCD_TRY(TableStore::instance().use(tables, work.device, work.stream, work.mode, memory, use));
    work.uses.push_back(std::move(use));
    return success;
}

bool fits_nest(const Work &work) {
    const Shape &shape = work.plan.shape;
    if (shape.levels == 0) return false;
    const uint64_t skipped = shape.level[0].kind == LevelKind::varying
                                 ? 0
                                 : work.job.offset / shape.level[0].each * shape.level[0].each;
    const uint64_t end = work.job.offset - skipped + work.job.length;
    for (unsigned k = 0; k < shape.levels; ++k)
        if (!fits_32_bits(shape.level[k].stride / int64_t{work.word})) return false;
    return end / work.word + vector_bytes < most_positions;
}

namespace {

NestList nest_list(const ShapeLevel &level, uint32_t word, const char *image) {
    return {.displacements = image + level.displacements,
            .first = reinterpret_cast<const uint32_t *>(image + level.first),
            .starts = reinterpret_cast<const uint32_t *>(image + level.starts),
            .displacement_unit = level.displacement_unit / word,
            .granule = level.granule};
}

// Lets the outermost level start at the child that holds the offset, so that positions stay small
// wherever in a large layout the range lies. Runs are found by their number, and stay.
uint64_t skip_children(const ShapeLevel &outermost, uint64_t offset, NestParams &params) {
    if (outermost.kind == LevelKind::varying) return 0;
    const uint64_t skipped = offset / outermost.each;
    if (outermost.kind == LevelKind::strided) {
        params.laid_out += skipped * static_cast<uint64_t>(outermost.stride);
    } else {
        NestList &list = params.list[0];
        const uint64_t entry = list.displacement_unit == 0 ? sizeof(int64_t) : sizeof(int32_t);
        list.displacements = static_cast<const char *>(list.displacements) + skipped * entry;
    }
    return skipped * outermost.each;
}

} // namespace

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
    const uint64_t skipped = skip_children(shape.level[0], work.job.offset, params);
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
