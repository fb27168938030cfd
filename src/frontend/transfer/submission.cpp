#include "transfer/submission.h"

#include "transfer/progress.h"

#include <algorithm>

namespace ucd {

Submission::Submission(Context &context, Op op, const Hints &hints, const StreamTarget *stream,
                       Reuse reuse)
    : context_(context), op_(op), hints_(hints), stream_(stream), reuse_(reuse),
      router_(context, hints, stream) {}

void Submission::add(const Dispatch &dispatch, MoveMaker &moves,
                     std::shared_ptr<const void> types) {
    launch_on(dispatch.executor).maker = &moves;
    members_.kept = std::move(types);
}

// ---- what a member becomes ----------------------------------------------------------------------

Status Submission::add(CheckedMove m) {
    if (m.length == 0) return success;
    use_bytes(m);
    m.limits = hints_.limits;
    MemoryRanges in, out;
    UCD_TRY(router_.divide(m, in, out));
    is_any_divided_ = is_any_divided_ || in.size() > 1 || out.size() > 1;
    // The move is divided where another memory begins on one of its sides.
    const MemoryRange *of_in = in.begin(), *of_out = out.begin();
    CheckedMove part = m;
    for (uint64_t begin = 0, to_begin = 0; begin < m.length;) {
        const uint64_t in_end = of_in + 1 == in.end() ? m.length : of_in[1].begin;
        const uint64_t out_end = of_out + 1 == out.end() ? m.to_length : of_out[1].begin;
        part.from.offset = m.from.offset + begin;
        part.to.offset = m.to.offset + to_begin;
        if (is_conversion(op_))
            UCD_TRY(match_elements(part, in_end - begin, out_end - to_begin));
        else
            part.length = part.to_length = std::min(in_end, out_end) - begin;
        UCD_TRY(add_part(part, of_in->first_byte, of_out->first_byte));
        begin += part.length;
        to_begin += part.to_length;
        of_in += begin == in_end;
        of_out += to_begin == out_end;
    }
    return success;
}

Status Submission::copy_lists(const Executor &executor, const Type *&type) {
    if (type == nullptr || !type->by_reference) return success;
    if (stream_ != nullptr)
        return check_lists_reached(hints_, router_.locations(), executor, *type);
    bool reached;
    UCD_TRY(reaches_lists(hints_, router_.locations(), executor, *type, reached));
    if (reached) return success;
    if (lists_ == nullptr) {
        lists_ = std::make_unique<CopiedLists>(context_, hints_);
        for (const Type *each : used_in_call_) members_.types.add(*each);
    }
    return lists_->replace(router_.locations(), executor, type);
}

// Keeps the types of a move. They are needed until the move is started: that is within the call,
// unless lists have to be copied first or the move is repeated. Its launch may need them longer.
void Submission::keep(const CheckedMove &m, bool after_launch) {
    const bool later = after_launch || reuse_ == Reuse::again || lists_ != nullptr;
    for (const Type *type : {m.from_type, m.to_type}) {
        if (type == nullptr) continue;
        if (later)
            members_.types.add(*type);
        else
            used_in_call_.push_back(type);
    }
}

// Adds a part whose sides are in one memory each.
Status Submission::add_part(CheckedMove m, const char *first_in, const char *first_out) {
    if (m.is_copy() && !is_conversion(op_)) use_packed(m, first_in, first_out);
    Route route;
    UCD_TRY(router_.find(m, op_, first_in, first_out, route));
    UCD_TRY(copy_lists(route.from, m.from_type));
    UCD_TRY(copy_lists(route.to, m.to_type));
    if (route.kind == RouteKind::host) return add_on_host(m, route);
    UCD_TRY(check_device(route.to, m));
    bool found = false;
    if (route.kind == RouteKind::direct) UCD_TRY(find_launch(m, route, found));
    if (found) return add_launch(m, route);
    // In stages. A device that can access both sides does both halves, through chunks in its
    // memory.
    keep(m, true);
    UCD_TRY(complete(m, route.from, route.to));
    if (is_reduction(op_) && m.to_type == nullptr)
        UCD_TRY(complete_packed(m, route.to, members_.types));
    members_.staged.push_back({route.from, route.to, m});
    return success;
}

namespace {

// Whether the output may have elements of other kinds behind the copied ones. An unpack would
// require that the op supports these, too.
bool may_have_other_elements(const CheckedMove &m) {
    return m.length < m.to_type->size * m.to.count && elements_of(*m.to_type).kind == Element::none;
}

} // namespace

// If one side of a copy is consecutive, it serves as the packed side of the other.
void Submission::use_packed(CheckedMove &m, const char *&first_in, const char *&first_out) const {
    char *address;
    if (is_contiguous(*m.to_type, m.to, m.length, address)) {
        m.to = side_of(address);
        m.to_type = nullptr;
        first_out = address;
    } else if ((op_ == Op::replace || !may_have_other_elements(m)) &&
               is_contiguous(*m.from_type, m.from, m.length, address)) {
        m.from = side_of(address);
        m.from_type = nullptr;
        first_in = address;
    }
}

Status Submission::add_on_host(CheckedMove &m, const Route &route) {
    keep(m, false);
    // At a first use, no plan may be needed.
    if (reuse_ == Reuse::again || m.is_copy() || !may_be_first_use(m.type()))
        UCD_TRY(complete(m, route.from, route.to));
    members_.on_host.push_back(m);
    return success;
}

// Checks what a device may not support. Packed elements are converted by the host, except in a
// stream.
Status Submission::check_device(const Executor &writer, const CheckedMove &m) const {
    if (hints_.limits.engine == Engine::dma) {
        if (m.from_type != nullptr)
            UCD_TRY(check_copy_engines(*m.from_type, m.from, m.length, op_));
        if (m.to_type != nullptr) UCD_TRY(check_copy_engines(*m.to_type, m.to, m.length, op_));
    }
    if (!is_conversion(op_)) return check_supported(writer, op_, m.type());
    if (stream_ == nullptr) return success;
    UCD_TRY(check_supported(writer, op_, *m.from_type));
    return check_supported(writer, op_, *m.to_type);
}

// Whether a launch on the route's device does all of the move, whose plans are set then.
Status Submission::find_launch(CheckedMove &m, const Route &route, bool &found) {
    found = !m.is_copy();
    if (found) return success;
    const Executor &device = route.to;
    if (is_conversion(op_)) {
        m.from_element = elements_of(*m.from_type).kind;
        m.to_element = elements_of(*m.to_type).kind;
        const bool uniform = m.from_element != Element::none && m.to_element != Element::none;
        if (!uniform || !supports(device, op_, *m.from_type) || !supports(device, op_, *m.to_type))
            return success;
    } else if (op_ != Op::replace || hints_.limits.engine == Engine::dma) {
        return success;
    }
    UCD_TRY(complete(m, device, device));
    found = device.backend->takes(m);
    return success;
}

Status Submission::add_launch(CheckedMove &m, const Route &route) {
    m.from_kind = route.from_kind;
    m.to_kind = route.to_kind;
    ConstTypeOwner described;
    if (!m.is_copy()) {
        const Type *&type = m.from_type != nullptr ? m.from_type : m.to_type;
        if (reuse_ == Reuse::once && may_be_first_use(*type)) {
            described = described_for_first_use(m);
            if (described != nullptr) type = described.get();
        }
        UCD_TRY(complete(m, route.from, route.to));
    }
    keep(m, m.is_copy() || described != nullptr || m.typed().plan->is_needed_by(m));
    launch_on(route.to).moves.push_back(m);
    return success;
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
Status add_pipelines(Context &context, const RoutedMembers &members, AsyncTransfer &work) {
    for (const RoutedMembers::Staged &s : members.staged) work.add(context, s.from, s.to, s.move);
    UCD_TRY(work.reserve_chunks());
    work.expect_launches(members.launches.size());
    return success;
}

} // namespace

Status run_incomplete(Context &context, CheckedMove m) {
    return run_on_host(context, m);
}

Status run_all_on_host(Context &context, const RoutedMembers &members, bool &ran) {
    for (const CheckedMove &m : members.on_host) {
        UCD_TRY(run_routed(context, m));
        ran = true;
    }
    return success;
}

Status start_members(Context &context, const RoutedMembers &members,
                     std::unique_ptr<AsyncTransfer> work,
                     std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(add_pipelines(context, members, *work));
    launch_all(members, *work);
    if (!members.staged.empty()) (void)work->progress(); // starts filling the first chunks
    bool ran_on_host = false;
    attempt(*work, [&] { return run_all_on_host(context, members, ran_on_host); });
    return AsyncTransfer::conclude(std::move(work), ran_on_host, operation);
}

Status start_members_in(const NativeStream &stream, const RoutedMembers &members,
                        const Keep &keep) {
    for (const Launch &launch : members.launches) UCD_TRY(launch.start_in(stream, keep));
    return success;
}

Status Submission::start(std::unique_ptr<AsyncOperation> &operation) {
    if (stream_ != nullptr) {
        UCD_TRY(find_steps());
        if (members_.memory_of_steps == nullptr && members_.types.empty() &&
            members_.kept == nullptr)
            return start_members_in(stream_->stream, members_, nullptr);
        const KeptMembers kept(std::move(members_));
        return start_members_in(stream_->stream, *kept, kept);
    }
    bool ran_on_host = false;
    if (members_.all_on_host() && lists_ == nullptr)
        return run_all_on_host(context_, members_, ran_on_host);
    auto work = std::make_unique<AsyncTransfer>();
    work->keep(std::move(members_.types));
    if (members_.kept != nullptr) work->keep(std::move(members_.kept));
    if (lists_ == nullptr) return start_members(context_, members_, std::move(work), operation);
    // Everything else starts when the lists have arrived.
    UCD_TRY(add_pipelines(context_, members_, *work));
    auto rest = [&context = context_,
                 members = std::make_shared<RoutedMembers>(std::move(members_))](AsyncTransfer &w) {
        launch_all(*members, w);
        bool ran = false;
        return w.failed() ? w.outcome() : run_all_on_host(context, *members, ran);
    };
    work->attempt([&] { return lists_->start(*work, std::move(rest)); });
    return AsyncTransfer::conclude(std::move(work), ran_on_host, operation);
}

Status Submission::prepare(KeptMembers &members) {
    members = {};
    if (lists_ != nullptr) return success;
    if (stream_ != nullptr) UCD_TRY(find_steps());
    for (Launch &launch : members_.launches)
        if (launch.prepared == nullptr) UCD_TRY(launch.prepare());
    members = KeptMembers(std::move(members_));
    return success;
}

} // namespace ucd
