#include "device_copy.h"

#include "derived.h"
#include "host_copy.h"
#include "progress.h"
#include "route.h"
#include "staging.h"

namespace ucd {
namespace {

// Whether the target may have elements behind those that are copied which are of another kind. An
// unpack would ask whether the op is there for these, too.
bool may_have_other_elements(const Transfer &to) {
    return to.length < to.type->size * to.count && elements_of(*to.type).kind == Element::none;
}

// A side in one piece is itself the packed buffer of the other: a copy is then a pack or an unpack.
bool as_one_move(const Transfer &from, const Transfer &to, Op op, Transfer &move,
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
    side.laid_out = t.laid_out;
    side.count = t.count;
    return plan_of(*t.type, *executor.backend, executor.index, t.count > 1, side.plan);
}

// One device does it in one go.
Status launch_copy(const Transfer &from, const Transfer &to, const Executor &executor,
                   const Limits &limits, std::unique_ptr<Operation> &operation) {
    CopyJob job;
    UCD_TRY(side_of(from, executor, job.from));
    UCD_TRY(side_of(to, executor, job.to));
    job.length = from.length;
    job.limits = limits;
    auto work = std::make_unique<Movement>();
    work->keep(*from.type);
    work->keep(*to.type);
    work->expect_launches(1);
    work->attempt([&] { return work->launch_copy(executor, job); });
    return Movement::conclude(std::move(work), false, operation);
}

} // namespace

Status start_copy(Context &context, const Transfer &from, const Transfer &to, Op op,
                  const Hints &hints, std::unique_ptr<Operation> &operation) {
    Transfer move;
    Direction direction;
    if (as_one_move(from, to, op, move, direction))
        return start(context, {&move, 1}, direction, op, hints, operation);

    Place source, target;
    UCD_TRY(find_place(context, hints, hints.inbuf, first_byte(*from.type, from.laid_out), source));
    UCD_TRY(find_place(context, hints, hints.outbuf, first_byte(*to.type, to.laid_out), target));
    Route route = find_route(context, hints, source, target);
    if (route.way == Way::direct && target.host_reachable() &&
        !supports(route.packed, op, *from.type))
        route = staged_route(context, source, target);
    if (route.way == Way::host) return copy_on_host(context, from, to, op, hints.limits);
    const bool by_engines = hints.limits.engine == Engine::dma;
    const bool one_launch = route.way == Way::direct && op == Op::replace && !by_engines &&
                            route.packed.backend->copies_layouts();
    if (by_engines) {
        UCD_TRY(check_copy_engines(from, op));
        UCD_TRY(check_copy_engines(to, op));
    }
    if (one_launch) return launch_copy(from, to, route.packed, hints.limits, operation);
    // A device that reaches both sides does both halves, by way of chunks of its own.
    const Executor &reader = route.laid_out, &writer = route.packed;
    UCD_TRY(check_supported(writer, op, *from.type));
    auto work = std::make_unique<Movement>();
    work->keep(*from.type);
    work->keep(*to.type);
    Pipeline &pipeline =
        work->pipeline(context.progress->staging(), reader, writer, op, hints.limits);
    UCD_TRY(pipeline.add({.from = {from.type, from.count, from.laid_out},
                          .to = {to.type, to.count, to.laid_out},
                          .offset = 0,
                          .length = from.length,
                          .element_type = to.type,
                          .element_count = to.count}));
    UCD_TRY(work->reserve_chunks());
    return Movement::conclude(std::move(work), false, operation);
}

} // namespace ucd
