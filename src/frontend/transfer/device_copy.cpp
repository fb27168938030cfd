#include "transfer/device_copy.h"

#include "prepared/type_cache.h"
#include "transfer/host_copy.h"
#include "transfer/index_lists.h"
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

Status side_of(const Transfer &t, const Executor &executor, CopyMove::Side &side) {
    side.typed = t.typed;
    side.count = t.count;
    return plan_of(*t.type, *executor.backend, executor.index, t.count > 1, side.plan);
}

// What one device does in one go.
Status copy_move(const Transfer &from, const Transfer &to, const Executor &executor,
                 const Limits &limits, CopyMove &move) {
    UCD_TRY(side_of(from, executor, move.from));
    UCD_TRY(side_of(to, executor, move.to));
    move.length = from.length;
    move.limits = limits;
    return success;
}

// Changes the type of a side whose lists its executor does not reach.
Status bring_lists(const Hints &hints, LocationCache &locations, const Executor &executor,
                   BroughtLists &lists, Transfer &side) {
    if (!side.type->by_reference) return success;
    bool reached;
    UCD_TRY(reaches_lists(hints, locations, executor, *side.type, reached));
    return reached ? success : lists.bring(locations, executor, side.type);
}

} // namespace

Status start_copy(Context &context, const Transfer &source, const Transfer &target, Op op,
                  const Hints &hints, std::unique_ptr<AsyncOperation> &operation) {
    Transfer move;
    Direction direction;
    if (as_one_transfer(source, target, op, move, direction))
        return Submission::start_one(context, move, direction, op, hints, operation);

    Transfer from = source, to = target;
    LocationCache locations(context, hints);
    MemoryLocation in, out;
    UCD_TRY(locations.find(hints.inbuf, first_byte(*from.type, from.typed), in));
    UCD_TRY(locations.find(hints.outbuf, first_byte(*to.type, to.typed), out));
    const Route route = find_route(context, hints, in, out, Direction::pack, op, *from.type);
    BroughtLists lists(context, hints);
    UCD_TRY(bring_lists(hints, locations, route.typed, lists, from));
    UCD_TRY(bring_lists(hints, locations, route.packed, lists, to));
    const Limits &limits = hints.limits;
    const bool on_host = route.kind == RouteKind::host;
    if (on_host && lists.empty()) return copy_on_host(context, from, to, op, limits);
    const bool by_engines = limits.engine == Engine::dma;
    const bool one_launch = route.kind == RouteKind::direct && op == Op::replace && !by_engines &&
                            route.packed.backend->copies_layouts();
    if (by_engines && !on_host) {
        UCD_TRY(check_copy_engines(from, op));
        UCD_TRY(check_copy_engines(to, op));
    }
    auto work = std::make_unique<AsyncTransfer>();
    work->keep(*from.type);
    work->keep(*to.type);
    AsyncTransfer::Continuation then = [](AsyncTransfer &) { return success; };
    if (on_host) {
        then = [&context, from, to, op, limits](AsyncTransfer &) {
            return copy_on_host(context, from, to, op, limits);
        };
    } else if (one_launch) {
        CopyMove move;
        UCD_TRY(copy_move(from, to, route.packed, limits, move));
        work->expect_launches(1);
        then = [executor = route.packed, move](AsyncTransfer &w) {
            return w.launch(executor, MoveList(std::span(&move, 1)));
        };
    } else {
        // A device that reaches both sides does both halves, by way of chunks of its own.
        const Executor &reader = route.typed, &writer = route.packed;
        UCD_TRY(check_supported(writer, op, *from.type));
        StagedPipeline &pipeline =
            work->pipeline(context.progress->pools(), reader, writer, op, limits);
        UCD_TRY(pipeline.add({.from = {from.type, from.count, from.typed},
                              .to = {to.type, to.count, to.typed},
                              .offset = 0,
                              .length = from.length,
                              .element_type = to.type,
                              .element_count = to.count}));
        UCD_TRY(work->reserve_chunks());
    }
    work->attempt(
        [&] { return lists.empty() ? then(*work) : lists.start(*work, std::move(then)); });
    return AsyncTransfer::conclude(std::move(work), false, operation);
}

} // namespace ucd
