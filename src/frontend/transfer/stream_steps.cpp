// In a stream, what no single kernel of its device does takes several steps through memory of the
// device.
#include "transfer/submission_builder.h"

#include "support/device_memory.h"
#include "transfer/conversion.h"
#include "transfer/host.h"
#include "transfer/staged.h"

#include <algorithm>

namespace ucd {

Status prepare_in(const StreamTarget &stream, const Type &type, uint64_t count, Op op,
                  const Limits &limits) {
    CheckedMove move; // without buffers and range
    move.op = op;
    move.limits = limits;
    move.from_type = &type;
    move.from.count = count;
    UCD_TRY(complete(move, stream.executor));
    return stream.executor.backend->prepare(stream.stream, move);
}

// The step of a stream's device between packing and unpacking.
Status SubmissionBuilder::add_converting_step(const std::vector<Part> &parts, Op op,
                                              const char *from, char *to) {
    // Each run is a launch.
    constexpr std::size_t max_runs = 4096;
    Step &step = submission_.add(StepKind::launch, stream_->executor, stream_->executor);
    UCD_TRY(for_each_conversion(
        parts, from, to, [&](const MatchedRun &run, const char *in, char *out) -> Status {
            if (step.moves.size() == max_runs)
                return fail(UCD_ERR__NOT_SUPPORTED,
                            "in a stream, at most %zu runs of equal elements are converted",
                            max_runs);
            step.moves.push_back(packed_conversion(run, op, hints_.limits, in, out));
            return success;
        }));
    return step.prepare();
}

// In a stream, a device does a staged step by launches through memory of its own. All of them can
// share it, because they run one after the other.
Status SubmissionBuilder::launch_staged(const Step &staged, char *memory, std::size_t bytes) {
    const Executor &device = stream_->executor;
    const Op op = staged.checked.begin()->op;
    const bool converts = is_conversion(op);
    PartLoader loader(staged.checked.span());
    std::vector<Part> parts;
    std::vector<Move> moves;
    while (!loader.all_loaded()) {
        loader.load(bytes, parts);
        for (const Direction direction : {Direction::pack, Direction::unpack}) {
            const bool pack = direction == Direction::pack;
            Move like;
            like.op = pack || converts ? Op::replace : op;
            like.limits = hints_.limits;
            // Conversions need a place for each side.
            char *const chunk = memory + (pack || !converts ? 0 : bytes);
            UCD_TRY(moves_of_parts(parts, direction, like, device, chunk, moves));
            if (!pack && converts) UCD_TRY(add_converting_step(parts, op, memory, chunk));
            Step &step = submission_.add(StepKind::launch, device, device);
            for (const Move &move : moves) step.moves.push_back(move);
            UCD_TRY(step.prepare());
        }
    }
    return success;
}

// Replaces the staged steps.
Status SubmissionBuilder::launch_staged_steps() {
    std::vector<Step> staged;
    uint64_t bytes = 0;
    bool converts = false;
    ShortList<Step> &steps = submission_.steps;
    while (!steps.empty() && steps.back().kind == StepKind::staged) {
        for (const CheckedMove &m : steps.back().checked)
            bytes += std::max(m.length, m.to_length) + part_alignment;
        converts = is_conversion(steps.back().checked.begin()->op);
        staged.push_back(std::move(steps.back()));
        steps.pop_back();
    }
    if (staged.empty()) return success;
    const Executor &device = stream_->executor;
    bytes = std::min<uint64_t>(bytes, StagingSizes().chunk_bytes);
    DeviceMemory::Block block;
    UCD_TRY(context_.device_memory->take(*device.backend, device.device,
                                         converts ? 2 * bytes : bytes, block));
    submission_.memory =
        std::shared_ptr<const void>(block.address, [number = context_.number, block](void *) {
            Context *const context = running_context.load(std::memory_order_acquire);
            if (context != nullptr && context->number == number) // otherwise it was freed with its
                                                                 // context
                context->device_memory->give_back(block);
        });
    for (const Step &step : staged)
        UCD_TRY(launch_staged(step, static_cast<char *>(block.address), bytes));
    return success;
}

} // namespace ucd
