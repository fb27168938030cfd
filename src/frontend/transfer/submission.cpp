#include "transfer/submission.h"

#include "transfer/progress.h"

#include <algorithm>

namespace ucd {

Submission::Submission(Context &context, Op op, const Hints &hints, const StreamTarget *stream,
                       Reuse reuse)
    : context_(context), op_(op), hints_(hints), stream_(stream), reuse_(reuse),
      locations_(context, hints) {
    if (stream == nullptr || hints.inbuf == nullptr || hints.outbuf == nullptr) return;
    Route route;
    all_reached_ = find_route_in_stream(nullptr, nullptr, Direction::pack, route).ok();
}

// ---- members that one device moves together -----------------------------------------------------

bool Submission::go_one_way(Direction direction, Dispatch &dispatch) {
    if (hints_.limits.engine == Engine::dma || hints_.inbuf == nullptr || hints_.outbuf == nullptr)
        return false;
    Route route;
    if (stream_ != nullptr) {
        if (!all_reached_ || !find_route_in_stream(nullptr, nullptr, direction, route).ok())
            return false;
    } else {
        MemoryLocation typed, packed;
        if (!find_location(context_, hints_, typed_hint(direction), nullptr, typed).ok() ||
            !find_location(context_, hints_, packed_hint(direction), nullptr, packed).ok())
            return false;
        route = find_route(context_, hints_, typed, packed);
    }
    if (route.kind != RouteKind::direct) return false;
    dispatch = {route.packed, {direction, op_, route.typed_kind, route.packed_kind, hints_.limits}};
    return true;
}

bool Submission::goes_one_way_elsewhere(Direction direction, const char *typed, const char *packed,
                                        Dispatch &dispatch) {
    if (hints_.limits.engine == Engine::dma) return false;
    const LocationHint *const of_typed = typed_hint(direction);
    const LocationHint *const of_packed = packed_hint(direction);
    MemoryLocation typed_at, packed_at;
    if (!locations_.find(of_typed, typed, typed_at).ok() ||
        !locations_.find(of_packed, packed, packed_at).ok())
        return false;
    Route route;
    if (stream_ != nullptr) {
        const bool pack = direction == Direction::pack;
        if (!find_route_in_stream(pack ? typed : packed, pack ? packed : typed, direction, route)
                 .ok())
            return false;
    } else {
        route = find_route(context_, hints_, typed_at, packed_at);
        if (route.kind != RouteKind::direct) return false;
    }
    const Dispatch here{route.packed,
                        {direction, op_, route.typed_kind, route.packed_kind, hints_.limits}};
    if (has_dispatch_ && !(here == dispatch)) return false;
    dispatch = here;
    has_dispatch_ = true;
    alike_typed_ = typed_at;
    alike_packed_ = packed_at;
    // A hint applies to all addresses.
    const auto everywhere = [](MemoryLocation &at) { at.begin = 0, at.end = UINTPTR_MAX; };
    if (of_typed != nullptr) everywhere(alike_typed_);
    if (of_packed != nullptr) everywhere(alike_packed_);
    return true;
}

void Submission::add(const Dispatch &dispatch, MoveMaker &moves,
                     std::shared_ptr<const void> types) {
    launch_on(dispatch.executor).maker = &moves;
    members_.kept = std::move(types);
}

// ---- where the bytes of a member are ------------------------------------------------------------

namespace {

CopyMove::Side side_of(const CheckedMove &m) {
    return {.typed = m.typed, .count = m.count, .offset = m.offset};
}

} // namespace

Status Submission::add(CheckedMove m) {
    if (m.length == 0) return success;
    m.limits = hints_.limits;
    Stretches stretches;
    UCD_TRY(locations_.find(typed_hint(m.direction), *m.type, side_of(m), m.length, stretches));
    is_divided_ = stretches.size() > 1;
    is_any_divided_ = is_any_divided_ || is_divided_;
    for (const Stretch *s = stretches.begin(); s != stretches.end(); ++s) {
        const uint64_t end = s + 1 == stretches.end() ? m.length : s[1].begin;
        CheckedMove part = m;
        part.packed = displaced(m.packed, s->begin);
        part.offset = m.offset + s->begin;
        part.length = end - s->begin;
        UCD_TRY(add_stretch(part, s->first_byte));
    }
    return success;
}

Status Submission::add(CheckedCopy c) {
    if (c.length == 0) return success;
    c.limits = hints_.limits;
    Stretches in, out;
    UCD_TRY(locations_.find(hints_.inbuf, *c.from_type, c.from, c.length, in));
    UCD_TRY(locations_.find(hints_.outbuf, *c.to_type, c.to, c.to_length, out));
    is_divided_ = in.size() > 1 || out.size() > 1;
    is_any_divided_ = is_any_divided_ || is_divided_;
    if (is_conversion(op_)) return add_conversion(c, in, out);
    const Stretch *of_in = in.begin(), *of_out = out.begin();
    for (uint64_t begin = 0, end; begin < c.length; begin = end) {
        const uint64_t in_end = of_in + 1 == in.end() ? c.length : of_in[1].begin;
        const uint64_t out_end = of_out + 1 == out.end() ? c.length : of_out[1].begin;
        end = std::min(in_end, out_end);
        CheckedCopy part = c;
        part.from.offset = c.from.offset + begin;
        part.to.offset = c.to.offset + begin;
        part.length = end - begin;
        UCD_TRY(add_stretch(part, of_in->first_byte, of_out->first_byte));
        of_in += end == in_end;
        of_out += end == out_end;
    }
    return success;
}

// Divides a conversion where one of its sides has the next stretch.
Status Submission::add_conversion(const CheckedCopy &c, const Stretches &in, const Stretches &out) {
    const Stretch *of_in = in.begin(), *of_out = out.begin();
    CheckedCopy part = c;
    uint64_t begin = 0, to_begin = 0;
    for (; begin < c.length; begin += part.length, to_begin += part.to_length) {
        const uint64_t in_end = of_in + 1 == in.end() ? c.length : of_in[1].begin;
        const uint64_t out_end = of_out + 1 == out.end() ? c.to_length : of_out[1].begin;
        part.from.offset = c.from.offset + begin;
        part.to.offset = c.to.offset + to_begin;
        UCD_TRY(match_elements(part, in_end - begin, out_end - to_begin));
        CheckedCopy stretch = part;
        UCD_TRY(add_stretch(stretch, of_in->first_byte, of_out->first_byte));
        of_in += begin + part.length == in_end;
        of_out += to_begin + part.to_length == out_end;
    }
    return success;
}

// ---- routes -------------------------------------------------------------------------------------

Status Submission::find_route_of(const CheckedMove &m, const char *first_byte, Route &route) {
    const bool pack = m.direction == Direction::pack;
    if (stream_ != nullptr)
        return find_route_in_stream(pack ? first_byte : m.packed, pack ? m.packed : first_byte,
                                    m.direction, route);
    MemoryLocation typed, packed;
    UCD_TRY(locations_.find(typed_hint(m.direction), first_byte, typed));
    UCD_TRY(locations_.find(packed_hint(m.direction), m.packed, packed));
    route = find_route(context_, hints_, typed, packed, m.direction, op_, *m.type);
    return m.type->by_reference ? route_by_lists(typed, packed, *m.type, route) : success;
}

Status Submission::find_route_of(const CheckedCopy &c, const char *first_in, const char *first_out,
                                 Route &route) {
    if (stream_ != nullptr)
        return find_route_in_stream(first_in, first_out, Direction::pack, route);
    MemoryLocation in, out;
    UCD_TRY(locations_.find(hints_.inbuf, first_in, in));
    UCD_TRY(locations_.find(hints_.outbuf, first_out, out));
    route = find_route(context_, hints_, in, out, Direction::pack, op_, *c.from_type);
    return success;
}

// If a device cannot access the lists, the host moves the typed side instead.
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

Status Submission::find_route_in_stream(const char *in, const char *out, Direction direction,
                                        Route &route) {
    if (!all_reached_) {
        UCD_TRY(check_reached(hints_.inbuf, in, "inbuf", in_kind_));
        UCD_TRY(check_reached(hints_.outbuf, out, "outbuf", out_kind_));
    }
    const bool pack = direction == Direction::pack;
    route = {RouteKind::direct, stream_->executor, stream_->executor, pack ? in_kind_ : out_kind_,
             pack ? out_kind_ : in_kind_};
    return success;
}

Status Submission::check_reached(const LocationHint *hint, const char *address,
                                 const char *argument, MemoryKind &kind) {
    const Executor &executor = stream_->executor;
    MemoryLocation location;
    UCD_TRY(locations_.find(hint, address, location));
    // A hint for pinned or managed memory means memory of the stream's backend.
    if (location.kind != MemoryKind::host && location.owner == nullptr) {
        location.owner = executor.backend;
        location.device = executor.device;
    }
    kind = location.kind;
    if (reaches(executor, hints_, location)) return success;
    if (is_divided_)
        return fail(
            UCD_ERR__INVALID_ARG,
            "%s is in several memories, of which device %d of backend %s does not reach the "
            "one at %p; a stream's device must reach all of them",
            argument, executor.device, executor.backend->name(),
            static_cast<const void *>(address));
    return fail(UCD_ERR__NOT_SUPPORTED,
                "%s is in memory that device %d of backend %s does not reach", argument,
                executor.device, executor.backend->name());
}

Status Submission::bring_lists(const Executor &executor, const Type *&type) {
    if (!type->by_reference) return success;
    if (stream_ != nullptr) return check_lists_reached(hints_, locations_, executor, *type);
    bool reached;
    UCD_TRY(reaches_lists(hints_, locations_, executor, *type, reached));
    if (reached) return success;
    if (lists_ == nullptr) {
        lists_ = std::make_unique<BroughtLists>(context_, hints_);
        for (const Type *each : used_in_call_) members_.types.add(*each);
    }
    return lists_->bring(locations_, executor, type);
}

// For a type that is needed until the move is started. That is within the call, unless lists have
// to be brought first or the move is repeated.
void Submission::keep_if_later(const Type &type) {
    if (reuse_ == Reuse::again || lists_ != nullptr)
        members_.types.add(type);
    else
        used_in_call_.push_back(&type);
}

// ---- what a member becomes ----------------------------------------------------------------------

// Checks what a device may not support.
Status Submission::check_device(const Executor &writer, const Type &type,
                                const CopyMove::Side &side, uint64_t length) const {
    if (hints_.limits.engine == Engine::dma) UCD_TRY(check_copy_engines(type, side, length, op_));
    return check_supported(writer, op_, type);
}

Status Submission::add_stretch(CheckedMove &m, const char *first_byte) {
    const bool pack = m.direction == Direction::pack;
    Route route;
    UCD_TRY(find_route_of(m, first_byte, route));
    UCD_TRY(bring_lists(route.typed, m.type));
    if (route.kind == RouteKind::host) {
        keep_if_later(*m.type);
        // At a first use, no plan may be needed.
        if (reuse_ == Reuse::again || !may_be_first_use(*m.type))
            UCD_TRY(complete(m, host_executor(context_)));
        members_.on_host.push_back(m);
        return success;
    }
    UCD_TRY(check_device(pack ? route.packed : route.typed, *m.type, side_of(m), m.length));
    if (route.kind == RouteKind::direct) return add_launch(m, route);
    RoutedMembers::Staged &staged = members_.staged.emplace_back();
    staged.from = pack ? route.typed : route.packed;
    staged.to = pack ? route.packed : route.typed;
    return complete(staged.move, m, staged.from, staged.to, members_.types);
}

// For moves of which one executor can access both sides.
Status Submission::add_launch(CheckedMove &m, const Route &route) {
    m.typed_kind = route.typed_kind;
    m.packed_kind = route.packed_kind;
    ConstTypeOwner described;
    if (reuse_ == Reuse::once && may_be_first_use(*m.type)) {
        described = described_for_first_use(m);
        if (described != nullptr) m.type = described.get();
    }
    UCD_TRY(complete(m, route.packed));
    if (described != nullptr || m.plan->is_needed_by(m))
        members_.types.add(*m.type);
    else
        keep_if_later(*m.type);
    launch_on(route.packed).moves.push_back(m);
    return success;
}

namespace {

// Whether the output may have elements of other kinds behind the copied ones. An unpack would
// require that the op supports these, too.
bool may_have_other_elements(const CheckedCopy &c) {
    return c.length < c.to_type->size * c.to.count && elements_of(*c.to_type).kind == Element::none;
}

} // namespace

// If one side is consecutive, it serves as the packed buffer of the other, so the copy is a pack or
// an unpack.
bool Submission::as_one_move(const CheckedCopy &c, CheckedMove &m) const {
    char *address;
    if (is_contiguous(*c.to_type, c.to, c.length, address)) {
        m = move_of_side(*c.from_type, c.from, c.length, Direction::pack, op_, hints_.limits);
    } else if ((op_ == Op::replace || !may_have_other_elements(c)) &&
               is_contiguous(*c.from_type, c.from, c.length, address)) {
        m = move_of_side(*c.to_type, c.to, c.length, Direction::unpack, op_, hints_.limits);
    } else {
        return false;
    }
    m.packed = address;
    return true;
}

Status Submission::add_stretch(CheckedCopy &c, const char *first_in, const char *first_out) {
    CheckedMove m;
    if (!is_conversion(op_) && as_one_move(c, m))
        return add_stretch(m, m.direction == Direction::pack ? first_in : first_out);
    Route route;
    UCD_TRY(find_route_of(c, first_in, first_out, route));
    UCD_TRY(bring_lists(route.typed, c.from_type));
    UCD_TRY(bring_lists(route.packed, c.to_type));
    if (route.kind == RouteKind::host) {
        members_.types.add(*c.from_type);
        members_.types.add(*c.to_type);
        UCD_TRY(complete(c.from, *c.from_type, host_executor(context_)));
        UCD_TRY(complete(c.to, *c.to_type, host_executor(context_)));
        members_.host_copies.push_back(c);
        return success;
    }
    const Executor &writer = route.packed;
    if (is_conversion(op_)) return add_converting(c, route);
    UCD_TRY(check_device(writer, *c.from_type, c.from, c.length));
    if (hints_.limits.engine == Engine::dma)
        UCD_TRY(check_copy_engines(*c.to_type, c.to, c.length, op_));
    const bool one_launch = route.kind == RouteKind::direct && op_ == Op::replace &&
                            hints_.limits.engine != Engine::dma && writer.backend->copies_layouts();
    if (one_launch) {
        members_.types.add(*c.from_type);
        members_.types.add(*c.to_type);
        UCD_TRY(complete(c.from, *c.from_type, writer));
        UCD_TRY(complete(c.to, *c.to_type, writer));
        launch_on(writer).copies.push_back(c);
        return success;
    }
    // A device that can access both sides does both halves, through chunks in its memory.
    RoutedMembers::Staged &staged = members_.staged.emplace_back();
    staged.from = route.typed;
    staged.to = writer;
    return complete(staged.move, c, op_, staged.from, staged.to, members_.types);
}

// Conversions of data that the host does not access in place. A kernel converts from layout to
// layout; otherwise packed elements are converted, in a stream by its device, else by the host.
Status Submission::add_converting(CheckedCopy &c, const Route &route) {
    if (hints_.limits.engine == Engine::dma)
        UCD_TRY(check_copy_engines(*c.from_type, c.from, c.length, op_));
    const Executor &writer = route.packed;
    if (stream_ != nullptr) {
        UCD_TRY(check_supported(writer, op_, *c.from_type));
        UCD_TRY(check_supported(writer, op_, *c.to_type));
    }
    c.from_element = elements_of(*c.from_type).kind;
    c.to_element = elements_of(*c.to_type).kind;
    const bool uniform = c.from_element != Element::none && c.to_element != Element::none;
    if (uniform && route.kind == RouteKind::direct && supports(writer, op_, *c.from_type) &&
        supports(writer, op_, *c.to_type)) {
        UCD_TRY(complete(c.from, *c.from_type, writer));
        UCD_TRY(complete(c.to, *c.to_type, writer));
        if (writer.backend->converts(c)) {
            members_.types.add(*c.from_type);
            members_.types.add(*c.to_type);
            launch_on(writer).copies.push_back(c);
            return success;
        }
    }
    RoutedMembers::Staged &staged = members_.staged.emplace_back();
    staged.from = route.typed;
    staged.to = route.packed;
    return complete(staged.move, c, op_, staged.from, staged.to, members_.types);
}

Launch &Submission::launch_on(const Executor &executor) {
    for (Launch &launch : members_.launches)
        if (launch.executor == executor) return launch;
    members_.launches.push_back({});
    members_.launches.back().executor = executor;
    return members_.launches.back();
}

// ---- start --------------------------------------------------------------------------------------

namespace {

// Does a part of the work, unless another part has failed.
template <class Body>
void attempt(AsyncTransfer &work, Body &&body) {
    if (!work.failed()) work.attempt(body);
}

void launch_all(const RoutedMembers &members, AsyncTransfer &work) {
    for (const Launch &launch : members.launches)
        attempt(work, [&] { return work.launch(launch); });
}

// Adds the moves that go through chunks, and takes their first chunks. Starts nothing.
Status add_pipelines(Context &context, const RoutedMembers &members, Op op, const Limits &limits,
                     AsyncTransfer &work) {
    for (const RoutedMembers::Staged &s : members.staged)
        work.add(context, s.from, s.to, s.move, op, limits);
    UCD_TRY(work.reserve_chunks());
    work.expect_launches(members.launches.size());
    return success;
}

} // namespace

Status run_all_on_host(Context &context, const RoutedMembers &members, Op op, const Limits &limits,
                       bool &ran) {
    for (const CheckedMove &m : members.on_host) {
        if (m.plan != nullptr) {
            UCD_TRY(run_complete(context, m));
        } else { // of a first use
            CheckedMove move = m;
            UCD_TRY(run_on_host(context, move));
        }
        ran = true;
    }
    for (const CheckedCopy &c : members.host_copies) {
        UCD_TRY(copy_on_host(context, c, op, limits));
        ran = true;
    }
    return success;
}

Status start_members(Context &context, const RoutedMembers &members, Op op, const Limits &limits,
                     std::unique_ptr<AsyncTransfer> work,
                     std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(add_pipelines(context, members, op, limits, *work));
    launch_all(members, *work);
    if (!members.staged.empty()) (void)work->progress(); // starts filling the first chunks
    bool ran_on_host = false;
    attempt(*work, [&] { return run_all_on_host(context, members, op, limits, ran_on_host); });
    return AsyncTransfer::conclude(std::move(work), ran_on_host, operation);
}

Status start_members_in(const NativeStream &stream, const RoutedMembers &members,
                        const Keep &keep) {
    for (const Launch &launch : members.launches) UCD_TRY(launch.start_in(stream, keep));
    for (const Launch &step : members.steps) UCD_TRY(step.start_in(stream, keep));
    return success;
}

Status Submission::start(std::unique_ptr<AsyncOperation> &operation) {
    if (stream_ != nullptr) {
        UCD_TRY(find_steps());
        if (members_.steps.empty() && members_.types.empty() && members_.kept == nullptr)
            return start_members_in(stream_->stream, members_, nullptr);
        const KeptMembers kept(std::move(members_));
        return start_members_in(stream_->stream, *kept, kept);
    }
    bool ran_on_host = false;
    if (members_.all_on_host() && lists_ == nullptr)
        return run_all_on_host(context_, members_, op_, hints_.limits, ran_on_host);
    auto work = std::make_unique<AsyncTransfer>();
    work->keep(std::move(members_.types));
    if (members_.kept != nullptr) work->keep(std::move(members_.kept));
    if (lists_ == nullptr)
        return start_members(context_, members_, op_, hints_.limits, std::move(work), operation);
    // Everything else starts when the lists have arrived.
    UCD_TRY(add_pipelines(context_, members_, op_, hints_.limits, *work));
    auto rest = [&context = context_, op = op_, limits = hints_.limits,
                 members = std::make_shared<RoutedMembers>(std::move(members_))](AsyncTransfer &w) {
        launch_all(*members, w);
        bool ran = false;
        return w.failed() ? w.outcome() : run_all_on_host(context, *members, op, limits, ran);
    };
    work->attempt([&] { return lists_->start(*work, std::move(rest)); });
    return AsyncTransfer::conclude(std::move(work), ran_on_host, operation);
}

Status Submission::prepare(KeptMembers &members) {
    members = {};
    if (lists_ != nullptr) return success;
    if (stream_ != nullptr) UCD_TRY(find_steps());
    for (Launch &launch : members_.launches) UCD_TRY(launch.prepare());
    members = KeptMembers(std::move(members_));
    return success;
}

} // namespace ucd
