#include "transfer/submission_builder.h"

#include "transfer/host.h"
#include "transfer/staged.h"

#include <algorithm>

namespace ucd {

namespace {

// Returns whether the output may have elements of other kinds behind the copied ones. An unpack
// would require that the op supports these, too.
bool may_have_other_elements(const CheckedMove &m) {
    return m.length < m.to_type->size * m.to.count && elements_of(*m.to_type).kind == Element::none;
}

// If one side of a copy is consecutive, it serves as the packed side of the other.
void use_packed(CheckedMove &m, const char *&first_in, const char *&first_out) {
    char *address;
    if (is_contiguous(*m.to_type, m.to, m.length, address)) {
        m.to = side_of(address);
        m.to_type = nullptr;
        first_out = address;
    } else if ((m.op == Op::replace || !may_have_other_elements(m)) &&
               is_contiguous(*m.from_type, m.from, m.length, address)) {
        m.from = side_of(address);
        m.from_type = nullptr;
        first_in = address;
    }
}

// Returns whether a type may have plans: one that has been moved before, and has no lists of the
// caller's, may. A packed side needs none.
bool may_have_plans(const Type *type) {
    return type == nullptr ||
           (!type->by_reference && type->state.cache.load(std::memory_order_acquire) != nullptr);
}

// Sets the plan that such a type has for the executor. False if it has none. Makes nothing.
bool find_plan(const Type *type, const Executor &executor, Side &side) {
    if (type == nullptr) return true;
    const CachedOnType &cache = *type->state.cache.load(std::memory_order_acquire);
    side.plan = static_cast<const TypeCache &>(cache).plans[executor.index][side.count > 1].load(
        std::memory_order_acquire);
    return side.plan != nullptr;
}

} // namespace

Status start_known(Context &context, const CheckedMove &m, const Hints &hints,
                   const StreamTarget *stream, std::unique_ptr<AsyncOperation> &operation,
                   bool &started) {
    started = false;
    if (hints.inbuf == nullptr || hints.outbuf == nullptr || m.length == 0 || m.op != Op::replace ||
        hints.limits.engine == Engine::dma || !may_have_plans(m.from_type) ||
        !may_have_plans(m.to_type))
        return success;
    CheckedMove known = m;
    const char *unused;
    if (m.is_copy()) use_packed(known, unused, unused);
    if (known.is_copy() && stream != nullptr) return success; // it has to keep the types
    // Hints apply to all addresses.
    Route route;
    if (!find_direct_route(context, hints, stream, known.direction(), route)) return success;
    const Executor &device = route.to;
    if (!find_plan(known.from_type, device, known.from) ||
        !find_plan(known.to_type, device, known.to))
        return success;
    known.from_kind = route.from_kind;
    known.to_kind = route.to_kind;
    known.limits = hints.limits;
    if (known.is_copy() && !device.backend->takes(known)) return success;
    const bool needs_types = known.is_copy() || known.typed().plan->is_needed_by(known);
    if (stream != nullptr && needs_types) return success; // as above
    started = true;
    if (stream == nullptr) return start_one(device, known, needs_types, operation);
    const Move &move = known;
    return device.backend->launch_in(stream->stream, std::span(&move, 1), Keep());
}

SubmissionBuilder::SubmissionBuilder(Router &router, Reuse reuse)
    : router_(router), context_(router.context()), hints_(router.hints()), stream_(router.stream()),
      reuse_(reuse) {}

void SubmissionBuilder::add(const Executor &device, MoveMaker &moves,
                            std::shared_ptr<const void> types) {
    submission_.add(StepKind::launch, device, device).maker = &moves;
    submission_.kept = std::move(types);
}

// ---- what a member becomes ----------------------------------------------------------------------

Status SubmissionBuilder::add(CheckedMove m) {
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
        if (is_conversion(m.op))
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

Status SubmissionBuilder::copy_lists(const Executor &executor, const Type *&type) {
    if (type == nullptr || !type->by_reference) return success;
    bool reached;
    const bool must = stream_ != nullptr; // which does not wait for copies
    UCD_TRY(reaches_lists(hints_, router_.locations(), executor, *type, must, reached));
    if (reached) return success;
    if (lists_ == nullptr) {
        lists_ =
            std::make_unique<CopiedLists>(context_, hints_, submission_, reuse_ == Reuse::again);
        for (const Type *each : used_in_call_) submission_.types.add(*each);
    }
    return lists_->replace(router_.locations(), executor, type);
}

// Keeps the types of a move. They are needed until the move's step begins: that is within the call,
// unless lists have to be copied first or the move is repeated. Its launch may need them longer.
void SubmissionBuilder::keep_types(const CheckedMove &m, bool after_launch) {
    const bool later = after_launch || reuse_ == Reuse::again || lists_ != nullptr;
    for (const Type *type : {m.from_type, m.to_type}) {
        if (type == nullptr) continue;
        if (later)
            submission_.types.add(*type);
        else
            used_in_call_.push_back(type);
    }
}

// Adds a part whose sides are in one memory each.
Status SubmissionBuilder::add_part(CheckedMove m, const char *first_in, const char *first_out) {
    if (m.is_copy() && !is_conversion(m.op)) use_packed(m, first_in, first_out);
    Route route;
    UCD_TRY(router_.find(m, first_in, first_out, route));
    UCD_TRY(copy_lists(route.from, m.from_type));
    UCD_TRY(copy_lists(route.to, m.to_type));
    if (route.kind == RouteKind::host) return add_on_host(m, route);
    UCD_TRY(check_device(route.to, m));
    bool found = false;
    if (route.kind == RouteKind::direct) UCD_TRY(find_launch(m, route, found));
    return found ? add_launch(m, route) : add_staged(m, route);
}

Status SubmissionBuilder::add_on_host(CheckedMove &m, const Route &route) {
    keep_types(m, false);
    // At a first use, no plan may be needed.
    if (reuse_ == Reuse::again || m.is_copy() || !may_be_first_use(m.type()))
        UCD_TRY(complete(m, route.from, route.to));
    step(StepKind::on_host, route, m).checked.push_back(m);
    return success;
}

// A device that can access both sides does both halves, through chunks in its memory.
Status SubmissionBuilder::add_staged(CheckedMove &m, const Route &route) {
    keep_types(m, true);
    UCD_TRY(complete(m, route.from, route.to));
    if (is_reduction(m.op) && m.to_type == nullptr)
        UCD_TRY(give_packed_side_a_plan(m, route.to, submission_.types));
    step(StepKind::staged, route, m).checked.push_back(m);
    return success;
}

// Checks what a device may not support. Packed elements are converted by the host, except in a
// stream.
Status SubmissionBuilder::check_device(const Executor &writer, const CheckedMove &m) const {
    if (hints_.limits.engine == Engine::dma) {
        if (m.from_type != nullptr)
            UCD_TRY(check_copy_engines(*m.from_type, m.from, m.length, m.op));
        if (m.to_type != nullptr) UCD_TRY(check_copy_engines(*m.to_type, m.to, m.length, m.op));
    }
    if (!is_conversion(m.op)) return check_supported(writer, m.op, m.type());
    if (stream_ == nullptr) return success;
    UCD_TRY(check_supported(writer, m.op, *m.from_type));
    return check_supported(writer, m.op, *m.to_type);
}

// Whether a launch on the route's device does all of the move, whose plans are set then.
Status SubmissionBuilder::find_launch(CheckedMove &m, const Route &route, bool &found) {
    found = !m.is_copy();
    if (found) return success;
    const Executor &device = route.to;
    if (is_conversion(m.op)) {
        m.from_element = elements_of(*m.from_type).kind;
        m.to_element = elements_of(*m.to_type).kind;
        const bool uniform = m.from_element != Element::none && m.to_element != Element::none;
        if (!uniform || !supports(device, m.op, *m.from_type) ||
            !supports(device, m.op, *m.to_type))
            return success;
    } else if (m.op != Op::replace || hints_.limits.engine == Engine::dma) {
        return success;
    }
    UCD_TRY(complete(m, device, device));
    found = device.backend->takes(m);
    return success;
}

Status SubmissionBuilder::add_launch(CheckedMove &m, const Route &route) {
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
    keep_types(m, m.is_copy() || described != nullptr || m.typed().plan->is_needed_by(m));
    step(StepKind::launch, route, m).moves.push_back(m);
    return success;
}

// The step that does the move, which shares it with all that are done in the same way.
Step &SubmissionBuilder::step(StepKind kind, const Route &route, const CheckedMove &m) {
    for (Step &step : submission_.steps)
        if (step.kind == kind && step.from == route.from && step.to == route.to &&
            (kind != StepKind::staged || plain_sides(*step.checked.begin()) == plain_sides(m)))
            return step;
    return submission_.add(kind, route.from, route.to);
}

// ---- the end ------------------------------------------------------------------------------------

Status SubmissionBuilder::finish(KeptSubmission &submission) {
    if (stream_ != nullptr) UCD_TRY(launch_staged_steps());
    if (reuse_ == Reuse::again)
        for (Step &step : submission_.steps)
            if (step.kind == StepKind::launch && step.prepared == nullptr) UCD_TRY(step.prepare());
    submission = KeptSubmission(std::move(submission_));
    return success;
}

Status SubmissionBuilder::start(std::unique_ptr<AsyncOperation> &operation) {
    if (stream_ == nullptr) {
        if (submission_.is_on_host()) return run_on_host(context_, submission_);
        return ucd::start(context_, std::move(submission_), operation);
    }
    UCD_TRY(launch_staged_steps());
    const bool needs_nothing =
        submission_.types.empty() && submission_.kept == nullptr && submission_.memory == nullptr;
    if (needs_nothing) return start_in(stream_->stream, submission_, nullptr);
    const KeptSubmission kept(std::move(submission_));
    return start_in(stream_->stream, *kept, kept);
}

} // namespace ucd
