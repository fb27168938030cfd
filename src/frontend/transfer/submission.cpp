#include "transfer/submission.h"

#include "transfer/first_use.h"
#include "transfer/host_submission.h"
#include "transfer/progress.h"
#include "transfer/single_launch.h"

namespace ucd {

Submission::Submission(Context &context, Direction direction, Op op, const Hints &hints,
                       const StreamTarget *stream)
    : context_(context), direction_(direction), op_(op), hints_(hints), stream_(stream),
      locations_(context, hints) {
    if (stream == nullptr) return;
    stream_dispatch_ = {.executor = stream->executor,
                        .settings = {.direction = direction, .op = op, .limits = hints.limits}};
    all_reached_ = hints.inbuf != nullptr && hints.outbuf != nullptr &&
                   find_stream_dispatch(nullptr, nullptr).ok();
}

bool Submission::all_alike(Dispatch &dispatch) {
    if (hints_.limits.engine == Engine::dma) return false;
    if (stream_ != nullptr) {
        dispatch = stream_dispatch_;
        return all_reached_;
    }
    if (hints_.inbuf == nullptr || hints_.outbuf == nullptr) return false;
    MemoryLocation in, out;
    if (!find_location(context_, hints_, hints_.inbuf, nullptr, in).ok() ||
        !find_location(context_, hints_, hints_.outbuf, nullptr, out).ok())
        return false;
    const bool pack = direction_ == Direction::pack;
    const Route route = find_route(context_, hints_, pack ? in : out, pack ? out : in);
    if (route.kind != RouteKind::direct) return false;
    dispatch = {route.packed, settings_of(route)};
    return true;
}

bool Submission::is_alike_elsewhere(const char *typed, const char *packed, Dispatch &dispatch) {
    if (hints_.limits.engine == Engine::dma) return false;
    const bool pack = direction_ == Direction::pack;
    const LocationHint *const typed_hint = pack ? hints_.inbuf : hints_.outbuf;
    const LocationHint *const packed_hint = pack ? hints_.outbuf : hints_.inbuf;
    MemoryLocation typed_at, packed_at;
    if (!locations_.find(typed_hint, typed, typed_at).ok() ||
        !locations_.find(packed_hint, packed, packed_at).ok())
        return false;
    Dispatch here;
    if (stream_ != nullptr) {
        if (!find_stream_dispatch(typed, packed).ok()) return false;
        here = stream_dispatch_;
    } else {
        const Route route = find_route(context_, hints_, typed_at, packed_at);
        if (route.kind != RouteKind::direct) return false;
        here = {route.packed, settings_of(route)};
    }
    if (has_dispatch_ && !(here == dispatch)) return false;
    dispatch = here;
    has_dispatch_ = true;
    alike_typed_ = typed_at;
    alike_packed_ = packed_at;
    // What a hint says holds for any address.
    const auto everywhere = [](MemoryLocation &at) { at.begin = 0, at.end = UINTPTR_MAX; };
    if (typed_hint != nullptr) everywhere(alike_typed_);
    if (packed_hint != nullptr) everywhere(alike_packed_);
    return true;
}

void Submission::reserve(std::size_t members) {
    if (stream_ != nullptr) launch_on(stream_->executor).moves.reserve(members);
}

Status Submission::add(const Transfer &t) {
    if (t.length == 0) return success;
    if (stream_ != nullptr) return add_in_stream(t);
    Route route;
    UCD_TRY(route_of(t, route));
    if (!t.type->by_reference) return add(t, route);
    Transfer with_lists = t;
    UCD_TRY(bring_lists(route, with_lists));
    return add(with_lists, route);
}

Status Submission::start(std::unique_ptr<AsyncOperation> &operation) {
    if (stream_ != nullptr) {
        for (const Launch &l : launches_)
            if (!l.moves.empty())
                return l.executor.backend->launch_in(stream_->stream, l.moves, std::move(types_));
        return success;
    }
    if (lists_ != nullptr) return start_after_lists(operation);
    // Unless something has failed already.
    const auto begin = [this](auto &&body) {
        if (!work().failed()) work().attempt(body);
    };
    UCD_TRY(work().reserve_chunks());
    work().expect_launches(launches_.size());
    for (const Launch &l : launches_) begin([&] { return work().launch(l.executor, l.moves); });
    (void)work().progress(); // gets staged members going
    bool ran_on_host = false;
    for (const Transfer &t : on_host_)
        begin([&] {
            UCD_TRY(run_on_host(context_, t, direction_, op_, hints_.limits));
            ran_on_host = true;
            return success;
        });
    return AsyncTransfer::conclude(std::move(work_), ran_on_host, operation);
}

Status Submission::start(const std::shared_ptr<CachedBatch> &batch,
                         std::unique_ptr<AsyncOperation> &operation) {
    const MoveList list = batch->moves();
    if (list.moves.empty()) return success;
    const bool is_new = !batch->keeps_types();
    if (stream_ != nullptr) {
        if (is_new) batch->keep_types();
        UCD_TRY(stream_->executor.backend->launch_in(stream_->stream, list, batch));
        if (is_new) context_.batches->add(batch);
        return success;
    }
    work().expect_launches(1);
    work().attempt([&] { return work().launch(batch->dispatch().executor, list); });
    // While the device is at it.
    if (is_new) {
        batch->keep_types();
        if (!work().failed()) context_.batches->add(batch);
    }
    work().keep(batch);
    return AsyncTransfer::conclude(std::move(work_), false, operation);
}

Status Submission::start(const Executor &executor, MoveMaker &moves,
                         std::shared_ptr<KeptTypes> types,
                         std::unique_ptr<AsyncOperation> &operation) {
    if (stream_ != nullptr)
        return executor.backend->launch_made_in(stream_->stream, moves, std::move(types));
    work().expect_launches(1);
    work().attempt([&] { return work().launch_made(executor, moves); });
    work().keep(std::move(types));
    return AsyncTransfer::conclude(std::move(work_), false, operation);
}

Status Submission::start_one(Context &context, const Transfer &t, Direction direction, Op op,
                             const Hints &hints, std::unique_ptr<AsyncOperation> &operation) {
    Submission submission(context, direction, op, hints);
    Route route;
    UCD_TRY(submission.route_of(t, route));
    Transfer with_lists = t;
    if (t.type->by_reference) UCD_TRY(submission.bring_lists(route, with_lists));
    if (submission.lists_ == nullptr) {
        if (route.kind == RouteKind::host)
            return run_on_host(context, t, direction, op, hints.limits);
        if (route.kind == RouteKind::direct) {
            if (t.type->cache.load(std::memory_order_acquire) == nullptr)
                if (const auto type = described_for_first_use(t, op, hints.limits)) {
                    Transfer once = t;
                    once.type = type.get();
                    return SingleLaunch::start({route.packed, submission.settings_of(route)}, once,
                                               operation);
                }
            UCD_TRY(submission.check_direct(t, route.packed));
            return SingleLaunch::start({route.packed, submission.settings_of(route)}, t, operation);
        }
    }
    UCD_TRY(submission.add(with_lists, route));
    return submission.start(operation);
}

// What a device may refuse.
Status Submission::check_direct(const Transfer &t, const Executor &executor) const {
    if (hints_.limits.engine == Engine::dma) UCD_TRY(check_copy_engines(t, op_));
    return check_supported(executor, op_, *t.type);
}

Status Submission::route_of(const Transfer &t, Route &route) {
    const bool pack = direction_ == Direction::pack;
    MemoryLocation typed, packed;
    UCD_TRY(
        locations_.find(pack ? hints_.inbuf : hints_.outbuf, first_byte(*t.type, t.typed), typed));
    UCD_TRY(locations_.find(pack ? hints_.outbuf : hints_.inbuf, t.packed, packed));
    route = find_route(context_, hints_, typed, packed, direction_, op_, *t.type);
    return t.type->by_reference ? route_by_lists(typed, packed, *t.type, route) : success;
}

// The host moves the typed side in place of a device that does not reach the lists.
Status Submission::route_by_lists(const MemoryLocation &typed, const MemoryLocation &packed,
                                  const Type &type, Route &route) {
    if (route.kind != RouteKind::direct || !typed.host_reachable()) return success;
    bool reached;
    UCD_TRY(reaches_lists(hints_, locations_, route.typed, type, reached));
    if (reached) return success;
    UCD_TRY(reaches_lists(hints_, locations_, host_executor(context_), type, reached));
    if (reached) route = staged_route(context_, typed, packed);
    return success;
}

Status Submission::bring_lists(const Route &route, Transfer &t) {
    bool reached;
    UCD_TRY(reaches_lists(hints_, locations_, route.typed, *t.type, reached));
    if (reached) return success;
    if (lists_ == nullptr) lists_ = std::make_unique<BroughtLists>(context_, hints_);
    return lists_->bring(locations_, route.typed, t.type);
}

Status Submission::start_after_lists(std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(work().reserve_chunks());
    work().expect_launches(launches_.size());
    for (const Transfer &t : on_host_) work().keep(*t.type);
    auto then = [&context = context_, launches = std::move(launches_),
                 on_host = std::move(on_host_), direction = direction_, op = op_,
                 limits = hints_.limits](AsyncTransfer &work) -> Status {
        for (const Launch &l : launches) UCD_TRY(work.launch(l.executor, l.moves));
        for (const Transfer &t : on_host) UCD_TRY(run_on_host(context, t, direction, op, limits));
        return success;
    };
    work().attempt([&] { return lists_->start(work(), std::move(then)); });
    return AsyncTransfer::conclude(std::move(work_), false, operation);
}

Status Submission::add(const Transfer &t, const Route &route) {
    if (route.kind == RouteKind::host) return add_on_host(t);
    UCD_TRY(check_direct(t, direction_ == Direction::pack ? route.packed : route.typed));
    work().keep(*t.type);
    if (route.kind == RouteKind::staged) return add_staged(t, route);
    return add_launch({route.packed, settings_of(route)}, t); // one executor for both sides
}

MoveSettings Submission::settings_of(const Route &route) const {
    return {direction_, op_, route.typed_kind, route.packed_kind, hints_.limits};
}

Status Submission::add_on_host(const Transfer &t) {
    UCD_TRY(prepare_on_host(context_, *t.type, t.count, op_));
    on_host_.push_back(t);
    return success;
}

Status Submission::add_launch(const Dispatch &dispatch, const Transfer &t) {
    Move move;
    UCD_TRY(make_move(dispatch, t, move));
    launch_on(dispatch.executor).moves.push_back(move);
    return success;
}

Status Submission::add_staged(const Transfer &t, const Route &route) {
    const StagedSide typed{t.type, t.count, t.typed};
    const StagedSide packed{nullptr, 0, displaced(t.packed, uint64_t{0} - t.offset)};
    const bool pack = direction_ == Direction::pack;
    return work()
        .pipeline(context_.progress->pools(), pack ? route.typed : route.packed,
                  pack ? route.packed : route.typed, op_, hints_.limits)
        .add({.from = pack ? typed : packed,
              .to = pack ? packed : typed,
              .offset = t.offset,
              .length = t.length,
              .element_type = t.type,
              .element_count = t.count});
}

Submission::Launch &Submission::launch_on(const Executor &executor) {
    for (Launch &launch : launches_)
        if (launch.executor == executor) return launch;
    return launches_.emplace_back(Launch{executor, {}});
}

AsyncTransfer &Submission::work() {
    if (work_ == nullptr) work_ = std::make_unique<AsyncTransfer>();
    return *work_;
}

Status Submission::add_in_stream(const Transfer &t) {
    if (!all_reached_) UCD_TRY(find_stream_dispatch(first_byte(*t.type, t.typed), t.packed));
    UCD_TRY(check_direct(t, stream_->executor));
    if (t.type->by_reference)
        UCD_TRY(check_lists_reached(hints_, locations_, stream_->executor, *t.type));
    Transfer moved = t;
    ConstTypeOwner described;
    if (t.type->cache.load(std::memory_order_acquire) == nullptr) {
        described = described_for_first_use(t, op_, hints_.limits);
        if (described != nullptr) moved.type = described.get();
    }
    UCD_TRY(add_launch(stream_dispatch_, moved));
    const Move &move = launch_on(stream_->executor).moves.back();
    if (!move.plan->is_needed_by(move)) return success;
    if (types_ == nullptr) types_ = std::make_shared<KeptTypes>();
    types_->add(*moved.type);
    return success;
}

Status Submission::find_stream_dispatch(const void *typed, const void *packed) {
    const bool pack = direction_ == Direction::pack;
    UCD_TRY(check_reached(pack ? hints_.inbuf : hints_.outbuf, typed, pack ? "inbuf" : "outbuf",
                          stream_dispatch_.settings.typed_kind));
    return check_reached(pack ? hints_.outbuf : hints_.inbuf, packed, pack ? "outbuf" : "inbuf",
                         stream_dispatch_.settings.packed_kind);
}

Status Submission::check_reached(const LocationHint *hint, const void *address,
                                 const char *argument, MemoryKind &kind) {
    const Executor &executor = stream_->executor;
    MemoryLocation location;
    UCD_TRY(locations_.find(hint, address, location));
    // A hint for pinned or managed memory means that of the stream's backend.
    if (location.kind != MemoryKind::host && location.owner == nullptr) {
        location.owner = executor.backend;
        location.device = executor.device;
    }
    kind = location.kind;
    if (reaches(executor, hints_, location)) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "%s is in memory that device %d of backend %s does not reach", argument,
                executor.device, executor.backend->name());
}

} // namespace ucd
