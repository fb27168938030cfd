#include "reduction.h"

#include "reduce.h"
#include "reduce_kernels.h"

#include <algorithm>
#include <bit>

namespace ucd::UCD_GPU {
namespace {

constexpr unsigned op_count = static_cast<unsigned>(Op::count_);
constexpr unsigned element_count = static_cast<unsigned>(Element::count_);

struct KernelTable {
    const ReduceKernel *kernel[op_count][element_count] = {};
    KernelTable() {
        for (const Reduction &r : reductions())
            kernel[static_cast<unsigned>(r.op)][static_cast<unsigned>(r.element)] =
                &reduce_kernels()[r.number];
    }
};

} // namespace

const ReduceKernel *reduce_kernel(Op op, Element element) {
    static const KernelTable table;
    return table.kernel[static_cast<unsigned>(op)][static_cast<unsigned>(element)];
}

namespace {

template <class Params>
Status launch_threads(const Work &work, const void *kernel, uint64_t threads, Params &params) {
    return launch_kernel(work.stream, kernel, (threads + threads_per_block - 1) / threads_per_block,
                         max_blocks(work.device, work.job), params);
}

// What the addresses of both sides are multiples of, and all that the layout consists of.
uint32_t alignment_of(const Work &work) {
    return work.plan.contiguous ? common_alignment(work.laid_out | work.stream_base()) : work.word;
}

// Elements of one kind --------------------------------------------------------------

// How a kernel of the element's own does it; false if none can.
bool choose_way(const Work &work, uint32_t size, ReduceBy &by, uint32_t &word) {
    const uint32_t alignment = alignment_of(work);
    by = alignment == vector_bytes ? ReduceBy::vectors : ReduceBy::elements;
    word = by == ReduceBy::vectors ? vector_bytes : std::min<uint32_t>(size, sizeof(uint64_t));
    return alignment >= word;
}

void describe_block(const Work &work, NestParams &params) {
    const Vectors vectors(work.packed, work.job.length);
    params.laid_out = work.laid_out + work.job.offset - vectors.head;
    params.packed = vectors.start;
    params.vectors = static_cast<uint32_t>(vectors.count);
    params.head = vectors.head;
    params.tail = vectors.tail;
}

bool fits(const Work &work) {
    const Job &job = work.job;
    if (work.plan.contiguous) return job.length / work.word + vector_bytes < most_positions;
    const Shape &shape = work.plan.shape;
    return fits_nest(shape, skipped_bytes(shape, job.offset), job, work.word);
}

Status describe_elements(Work &work, ReduceBy by, uint32_t size, ReduceParams &params) {
    params = {};
    params.by = by;
    params.direction = work.job.direction;
    params.shift = static_cast<uint8_t>(std::countr_zero(work.word));
    NestParams &nest = params.nest;
    if (work.plan.contiguous) {
        describe_block(work, nest);
    } else {
        params.levels = static_cast<uint8_t>(work.plan.shape.levels);
        UCD_TRY(describe_nest(work, nest, params.kinds));
        params.strided = params.levels == 1 && params.kinds[0] == LevelKind::strided;
    }
    if (by == ReduceBy::elements) {
        nest.first_word += nest.head / work.word;
        nest.packed = work.packed;
        nest.vectors = static_cast<uint32_t>(work.job.length / size);
    }
    return success;
}

// Any elements --------------------------------------------------------------

Status describe_any(Work &work, ReduceAnyParams &params) {
    const Job &job = work.job;
    const Elements &elements = *job.elements;
    params = {};
    if (!work.plan.contiguous) UCD_TRY(use_program(work, work.plan.program(), params.layout));
    params.element = elements.kind;
    if (elements.kind == Element::none)
        UCD_TRY(use_program(work, work.plan.program_of(elements), params.elements));
    for (unsigned e = 0; e < element_count; ++e) {
        const ReduceKernel *kernel = reduce_kernel(job.op, static_cast<Element>(e));
        if (kernel == nullptr) continue;
        params.kinds[e] = {kernel->number,
                           static_cast<uint8_t>(packed_size(static_cast<Element>(e)))};
    }
    params.direction = job.direction;
    params.width = alignment_of(work);
    params.laid_out = work.laid_out;
    const Vectors vectors(work.packed, job.length);
    params.packed = vectors.start;
    params.vectors = vectors.count;
    params.position = job.offset - vectors.head;
    params.head = vectors.head;
    params.tail = vectors.tail;
    return success;
}

} // namespace

Status describe_reduction(Work &work, ReductionNumbers &numbers) {
    const Element element = work.job.elements->kind;
    numbers.own = nullptr;
    if (element != Element::none) {
        const ReduceKernel *kernel = reduce_kernel(work.job.op, element);
        const uint32_t size = packed_size(element);
        Work narrow = work;
        ReduceBy by;
        if (kernel->handle != nullptr && choose_way(work, size, by, narrow.word) && fits(narrow)) {
            numbers.own = kernel;
            return describe_elements(narrow, by, size, numbers.elements);
        }
    }
    return describe_any(work, numbers.any);
}

Status launch_reduction(Work &work) {
    ReductionNumbers numbers;
    UCD_TRY(describe_reduction(work, numbers));
    if (numbers.own == nullptr)
        return launch_threads(work, reduce_any_kernel(), numbers.threads(), numbers.any);
    return launch_threads(work, numbers.own->handle, numbers.threads(), numbers.elements);
}

Status prepare_reduction(Device &device, const Job &job) {
    const auto &plan = static_cast<const GpuPlan &>(*job.plan);
    TableStore &store = TableStore::instance();
    if (plan.size > 0) {
        // Which kernel it will be depends on addresses, too.
        UCD_TRY(load_kernel(reduce_any_kernel()));
        UCD_TRY(load_kernel(reduce_any_batch_kernel()));
        if (!plan.contiguous) UCD_TRY(store.prepare(plan.program().tables, device));
        if (plan.tables != nullptr) UCD_TRY(store.prepare(*plan.tables, device));
        const Elements &elements = *job.elements;
        if (elements.kind == Element::none) {
            UCD_TRY(store.prepare(plan.program_of(elements).tables, device));
        } else if (const ReduceKernel *kernel = reduce_kernel(job.op, elements.kind);
                   kernel->handle != nullptr) {
            UCD_TRY(load_kernel(kernel->handle));
            UCD_TRY(load_kernel(kernel->batch));
        }
    }
    plan.set_prepared(device.index(), job.op);
    return success;
}

} // namespace ucd::UCD_GPU
