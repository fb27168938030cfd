#include "launch/launch.h"

#include "kernels/reduce_kernels.h"
#include "launch/launch_context.h"
#include "launch/member_tables.h"
#include "params/reduce.h"

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

// The largest word that divides the addresses of both sides and all numbers of the layout.
uint32_t alignment_of(const LaunchContext &launch) {
    return launch.plan().contiguous ? common_alignment(launch.typed() | launch.stream_base())
                                    : launch.word;
}

// Elements of one kind --------------------------------------------------------------

// Chooses how a kernel for this element loads; false if the alignment does not allow any.
bool choose_kernel(const LaunchContext &launch, uint32_t size, ReduceBy &by, uint32_t &word) {
    const uint32_t alignment = alignment_of(launch);
    by = alignment == vector_bytes ? ReduceBy::vectors : ReduceBy::elements;
    word = by == ReduceBy::vectors ? vector_bytes : std::min<uint32_t>(size, sizeof(uint64_t));
    return alignment >= word;
}

bool fits(const LaunchContext &launch) {
    const Move &move = launch.move;
    if (launch.plan().contiguous) return move.length / launch.word + vector_bytes < max_positions;
    const Shape &shape = launch.plan().shape;
    return fits_nest(shape, skipped_bytes(shape, launch.side.offset), move.range(), launch.word);
}

Status describe_elements(const LaunchContext &launch, ReduceBy by, uint32_t size,
                         ReduceParams &params) {
    params = {};
    params.by = by;
    params.direction = launch.move.direction();
    params.shift = static_cast<uint8_t>(std::countr_zero(launch.word));
    NestParams &nest = params.nest;
    if (launch.plan().contiguous) {
        launch.put_vectors(nest);
        nest.typed = launch.typed() + launch.side.offset - nest.head;
    } else {
        params.levels = static_cast<uint8_t>(launch.plan().shape.levels);
        UCD_TRY(describe_nest(launch, nest, params.kinds));
    }
    if (by == ReduceBy::elements) {
        nest.first_word += nest.head / launch.word;
        nest.packed = launch.packed();
        nest.vectors = static_cast<uint32_t>(launch.move.length / size);
    }
    return success;
}

// Any elements --------------------------------------------------------------

Status describe_any(const LaunchContext &launch, ReduceAnyParams &params) {
    const Move &move = launch.move;
    const Elements &elements = *move.elements;
    params = {};
    if (!launch.plan().contiguous)
        UCD_TRY(use_interpreter(launch.to, launch.gpu_plan().interpreter(), params.layout));
    params.layout.typed = launch.typed();
    params.element = elements.kind;
    if (elements.kind == Element::none)
        UCD_TRY(use_interpreter(launch.to, launch.gpu_plan().interpreter_of(elements),
                                params.elements));
    for (unsigned e = 0; e < element_count; ++e) {
        const ReduceKernel *kernel = reduce_kernel(move.op, static_cast<Element>(e));
        if (kernel == nullptr) continue;
        params.kinds[e] = {kernel->number,
                           static_cast<uint8_t>(packed_size(static_cast<Element>(e)))};
    }
    params.direction = move.direction();
    params.width = alignment_of(launch);
    launch.put_vectors(params);
    params.position = launch.side.offset - params.head;
    return success;
}

uint64_t tiles_of(uint64_t vectors) {
    return (vectors + threads_per_block - 1) / threads_per_block;
}

Status launch_reduction(const LaunchContext &launch, MemberTables &tables) {
    const Element element = launch.move.elements->kind;
    const uint32_t blocks = max_blocks(launch.to.device(), launch.move);
    if (element != Element::none) {
        const ReduceKernel *kernel = reduce_kernel(launch.move.op, element);
        const uint32_t size = packed_size(element);
        LaunchContext narrow = launch;
        ReduceBy by;
        if (kernel->handle != nullptr && choose_kernel(launch, size, by, narrow.word) &&
            fits(narrow)) {
            ReduceParams params;
            UCD_TRY(describe_elements(narrow, by, size, params));
            return tables.add_or_launch(kernel->handle, kernel->batch, params,
                                        tiles_of(params.nest.vectors), blocks);
        }
    }
    ReduceAnyParams params;
    UCD_TRY(describe_any(launch, params));
    return tables.add_or_launch(reduce_any_kernel(), reduce_any_batch_kernel(), params,
                                tiles_of(params.vectors), blocks);
}

} // namespace

Status launch_reductions(LaunchTarget &to, std::span<const Move> moves) {
    if (moves.empty()) return success;
    MemberTables tables(to, moves.size());
    for (const Move &move : moves) UCD_TRY(launch_reduction(LaunchContext(to, move), tables));
    return tables.launch(max_blocks(to.device(), moves.front()));
}

Status prepare_reduction(Device &device, const Move &move) {
    const auto &plan = plan_of(move.typed());
    ListStore &store = device.lists();
    if (plan.host.size > 0) {
        // The choice of the kernel also depends on addresses, so all of them are prepared.
        UCD_TRY(load_kernels({reduce_any_kernel(), reduce_any_batch_kernel()}));
        if (!plan.host.contiguous) UCD_TRY(store.prepare(plan.interpreter().lists, device));
        if (plan.lists != nullptr) UCD_TRY(store.prepare(*plan.lists, device));
        const Elements &elements = *move.elements;
        if (elements.kind == Element::none) {
            UCD_TRY(store.prepare(plan.interpreter_of(elements).lists, device));
        } else {
            const ReduceKernel *kernel = reduce_kernel(move.op, elements.kind);
            UCD_TRY(load_kernels({kernel->handle, kernel->batch}));
        }
    }
    plan.set_prepared(device.index(), move.op);
    return success;
}

} // namespace ucd::UCD_GPU
