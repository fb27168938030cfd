#include "transfer/device_copy.h"

#include "prepared/type_cache.h"
#include "transfer/host_copy.h"
#include "transfer/progress.h"
#include "transfer/submission.h"

namespace ucd {
namespace {

// Whether the target may have elements behind those that are copied which are of another kind. An
// unpack would ask whether the op is there for these, too.
bool may_have_other_elements(const Transfer &to) {
    return to.length < to.type->size * to.count && elements_of(*to.type).kind == Element::none;
}

// A side in one piece is itself the packed buffer of the other: a copy is then a pack or an unpack.
bool as_one_transfer(const Transfer &from, const Transfer &to, Op op, Transfer &move,
                     Direction &direction) {
    char *address;
    if (is_contiguous(to, address)) {
        move = from;
        direction = Direction::pack;
    } else if ((op == Op::replace || !may_have_other_elements(to)) &&
               is_contiguous(from, address)) {
        move = to;
        direction = Direction::unpack;
    } else {
        return false;
    }
    move.packed = address;
    return true;
}

Status side_of(const Transfer &t, const Executor &executor, CopyJob::Side &side) {
    side.typed = t.typed;
    side.count = t.count;
    return plan_of(*t.type, *executor.backend, executor.index, t.count > 1, side.plan);
}

// One device does it in one go.
Status launch_copy(const Transfer &from, const Transfer &to, const Executor &executor,
                   const Limits &limits, std::unique_ptr<AsyncOperation> &operation) {
    CopyJob job;
    UCD_TRY(side_of(from, executor, job.from));
    UCD_TRY(side_of(to, executor, job.to));
    job.length = from.length;
    job.limits = limits;
    auto work = std::make_unique<AsyncTransfer>();
    work->keep(*from.type);
    work->keep(*to.type);
    work->expect_launches(1);
    work->attempt([&] { return work->launch_copy(executor, job); });
    return AsyncTransfer::conclude(std::move(work), false, operation);
}

} // namespace

Status start_copy(Context &context, const Transfer &from, const Transfer &to, Op op,
                  const Hints &hints, std::unique_ptr<AsyncOperation> &operation) {
    Transfer move;
    Direction direction;
    if (as_one_transfer(from, to, op, move, direction))
        return Submission::start_one(context, move, direction, op, hints, operation);

    MemoryLocation source, target;
    UCD_TRY(find_location(context, hints, hints.inbuf, first_byte(*from.type, from.typed), source));
    UCD_TRY(find_location(context, hints, hints.outbuf, first_byte(*to.type, to.typed), target));
    const Route route = find_route(context, hints, source, target, Direction::pack, op, *from.type);
    if (route.kind == RouteKind::host) return copy_on_host(context, from, to, op, hints.limits);
    const bool by_engines = hints.limits.engine == Engine::dma;
    const bool one_launch = route.kind == RouteKind::direct && op == Op::replace && !by_engines &&
                            route.packed.backend->copies_layouts();
    if (by_engines) {
        UCD_TRY(check_copy_engines(from, op));
        UCD_TRY(check_copy_engines(to, op));
    }
    if (one_launch) return launch_copy(from, to, route.packed, hints.limits, operation);
    // A device that reaches both sides does both halves, by way of chunks of its own.
    const Executor &reader = route.typed, &writer = route.packed;
    UCD_TRY(check_supported(writer, op, *from.type));
    auto work = std::make_unique<AsyncTransfer>();
    work->keep(*from.type);
    work->keep(*to.type);
    StagedPipeline &pipeline =
        work->pipeline(context.progress->pools(), reader, writer, op, hints.limits);
    UCD_TRY(pipeline.add({.from = {from.type, from.count, from.typed},
                          .to = {to.type, to.count, to.typed},
                          .offset = 0,
                          .length = from.length,
                          .element_type = to.type,
                          .element_count = to.count}));
    UCD_TRY(work->reserve_chunks());
    return AsyncTransfer::conclude(std::move(work), false, operation);
}

} // namespace ucd
