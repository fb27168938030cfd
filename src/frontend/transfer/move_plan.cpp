#include "transfer/move_plan.h"

#include <algorithm>
#include <utility>

namespace ucd {
namespace {

std::optional<LocationHint> copy_of(const LocationHint *hint) {
    return hint == nullptr ? std::nullopt : std::optional<LocationHint>(*hint);
}

// The addresses that a member has; its entry in the arrays is number `i`.
[[gnu::always_inline]] inline MoveAddresses addresses_of(const CheckedMove &m, std::size_t i,
                                                         const MovePlan::Buffers &buffers) {
    return {buffers.inbufs == nullptr ? m.from.address
                                      : static_cast<char *>(const_cast<void *>(buffers.inbufs[i])),
            buffers.outbufs == nullptr ? m.to.address : static_cast<char *>(buffers.outbufs[i])};
}

CheckedMove moved_to(CheckedMove m, const MoveAddresses &at) {
    m.from.address = at.from;
    m.to.address = at.to;
    return m;
}

} // namespace

// A use of a plan by a start in progress, or by a rebase.
class MovePlan::Use {
public:
    // Starts with other buffers are counted in the lower bits. They may begin beside a start with
    // the plan's own buffers, and not beside a rebase. Both of these begin only if there is no use.
    static constexpr uint32_t with_others = 1, with_own = uint32_t{1} << 31,
                              rebase = uint32_t{1} << 30;

    explicit Use(std::shared_ptr<MovePlan> plan) : plan_(std::move(plan)) {}
    Use(Use &&other) noexcept : plan_(std::move(other.plan_)), use_(std::exchange(other.use_, 0)) {}
    ~Use() {
        if (use_ != 0) plan_->in_use_.fetch_sub(use_, std::memory_order_release);
    }
    // Begins a start with the plan's buffers, or a rebase.
    Status begin(uint32_t use) {
        uint32_t unused = 0;
        if (!plan_->in_use_.compare_exchange_strong(unused, use, std::memory_order_acq_rel))
            return fail(UCD_ERR__INVALID_ARG, "plan is started, and that start has not ended");
        use_ = use;
        return success;
    }
    Status begin_with_others() {
        use_ = with_others;
        if ((plan_->in_use_.fetch_add(use_, std::memory_order_acq_rel) & rebase) == 0)
            return success;
        return fail(UCD_ERR__INVALID_ARG, "another thread is in ucd_plan_rebase of this plan");
    }

private:
    std::shared_ptr<MovePlan> plan_;
    uint32_t use_ = 0;
};

MovePlan::MovePlan(const Context &context, std::vector<CheckedMove> members, const Hints &hints)
    : context_number_(context.number), in_hint_(copy_of(hints.inbuf)),
      out_hint_(copy_of(hints.outbuf)), hints_(hints), members_(std::move(members)) {
    hints_.inbuf = in_hint_ ? &*in_hint_ : nullptr;
    hints_.outbuf = out_hint_ ? &*out_hint_ : nullptr;
    for (const CheckedMove &m : members_) {
        for (const Type *type : {m.from_type, m.to_type})
            if (type != nullptr) types_.add(*type);
    }
}

Status MovePlan::create(Context &context, std::vector<CheckedMove> members, const Hints &hints,
                        std::shared_ptr<MovePlan> &plan) {
    auto made = std::make_shared<MovePlan>(context, std::move(members), hints);
    LocationCache locations(context, made->hints_);
    made->memories_.resize(made->members_.size());
    for (std::size_t i = 0; i < made->members_.size(); ++i) {
        const CheckedMove &m = made->members_[i];
        UCD_TRY(at_member(i, made->find_memories(locations, m, m.from.address, m.to.address,
                                                 made->memories_[i])));
    }
    UCD_TRY(made->route(context, made->members_, nullptr, made->submission_, made->is_divided_));
    made->only_step_ = made->only_step();
    plan = std::move(made);
    return success;
}

Status MovePlan::check_usable(const Context &context) const {
    if (context.number == context_number_) return success;
    return fail(UCD_ERR__INVALID_ARG, "plan was made before the last ucd_finalize");
}

// Finds the memories of a member's sides, which are at these addresses.
Status MovePlan::find_memories(LocationCache &locations, const CheckedMove &m, const char *in,
                               const char *out, Memories &memories) const {
    if (m.length == 0) return success;
    const auto find = [&](const auto &hint, const Type *type, const char *address,
                          std::optional<MemoryLocation> &memory) {
        if (hint) return success;
        const char *first = type != nullptr ? first_byte(*type, address) : address;
        return locations.find(nullptr, first, memory.emplace());
    };
    UCD_TRY(find(in_hint_, m.from_type, in, memories[0]));
    return find(out_hint_, m.to_type, out, memories[1]);
}

Status MovePlan::add_members(SubmissionBuilder &builder,
                             const std::vector<CheckedMove> &members) const {
    for (std::size_t i = 0; i < members.size(); ++i) UCD_TRY(at_member(i, builder.add(members[i])));
    return success;
}

Status MovePlan::route(Context &context, const std::vector<CheckedMove> &members,
                       const StreamTarget *stream, KeptSubmission &submission,
                       bool &is_divided) const {
    Router router(context, hints_, stream);
    SubmissionBuilder builder(router, Reuse::again);
    UCD_TRY(add_members(builder, members));
    is_divided = builder.is_any_divided();
    return builder.finish(submission);
}

Status MovePlan::start(Context &context, std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(check_usable(context));
    Use use(shared_from_this());
    UCD_TRY(use.begin(Use::with_own));
    if (submission_->is_on_host()) return run_on_host(context, *submission_);
    return ucd::start(context, submission_, std::make_shared<Use>(std::move(use)), operation);
}

Status MovePlan::start_in(Context &context, const StreamTarget &stream) {
    UCD_TRY(check_usable(context));
    Use use(shared_from_this()); // during the call, which may add to in_streams_
    UCD_TRY(use.begin(Use::with_own));
    if (submission_->is_launch_on(stream.executor))
        return ucd::start_in(stream.stream, *submission_, submission_);
    for (const InStream &known : in_streams_)
        if (known.executor == stream.executor)
            return ucd::start_in(stream.stream, *known.submission, known.submission);
    KeptSubmission made;
    bool is_divided = false; // known since the plan was made
    UCD_TRY(route(context, members_, &stream, made, is_divided));
    in_streams_.push_back({stream.executor, made});
    return ucd::start_in(stream.stream, *made, made);
}

// ---- other buffers ------------------------------------------------------------------------------

namespace {

Status check_same_memory(const char *argument, const std::optional<MemoryLocation> &before,
                         const std::optional<MemoryLocation> &after) {
    if (!before || is_same_memory(*before, *after)) return success;
    return fail(UCD_ERR__INVALID_ARG, "%s is in %s memory; it must be in %s memory, as before",
                argument, name_of(*after).text, name_of(*before).text);
}

// Moves the address as far as `to` is from `from`.
void shift(char *&address, const char *from, const char *to) {
    address =
        displaced(address, reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from));
}

} // namespace

const Step *MovePlan::only_step() const {
    if (submission_->steps.size() != 1) return nullptr;
    const Step &step = *submission_->steps.begin();
    const std::size_t moves =
        step.kind == StepKind::on_host ? step.checked.size() : step.moves.size();
    const auto filled =
        std::count_if(members_.begin(), members_.end(), [](const auto &m) { return m.length > 0; });
    return moves == static_cast<std::size_t>(filled) ? &step : nullptr;
}

// Checks buffers of consecutive members.
Status MovePlan::check_buffers(const Context &context, std::size_t first, std::size_t count,
                               const Buffers &buffers) const {
    for (std::size_t i = 0; i < count; ++i) {
        const CheckedMove &m = members_[first + i];
        const MoveAddresses at = addresses_of(m, i, buffers);
        if (at.from != nullptr && at.to != nullptr) continue;
        UCD_TRY(at_member(first + i, check_packed(moved_to(m, at))));
    }
    return all_on_host(context, hints_) ? success : check_memories(context, first, count, buffers);
}

Status MovePlan::check_memories(const Context &context, std::size_t first, std::size_t count,
                                const Buffers &buffers) const {
    LocationCache locations(context, hints_);
    for (std::size_t i = first; i < first + count; ++i) {
        const auto check = [&]() -> Status {
            const MoveAddresses at = addresses_of(members_[i], i - first, buffers);
            Memories memories;
            UCD_TRY(find_memories(locations, members_[i], at.from, at.to, memories));
            UCD_TRY(check_same_memory("inbuf", memories_[i][0], memories[0]));
            return check_same_memory("outbuf", memories_[i][1], memories[1]);
        };
        UCD_TRY(at_member(i, check()));
    }
    return success;
}

std::vector<CheckedMove> MovePlan::with_buffers(std::size_t first, std::size_t count,
                                                const Buffers &buffers) const {
    std::vector<CheckedMove> members = members_;
    for (std::size_t i = 0; i < count; ++i) {
        CheckedMove &m = members[first + i];
        m = moved_to(m, addresses_of(m, i, buffers));
    }
    return members;
}

// Calls body() for each move, with the buffers that its member has in the arrays. `moves` has one
// for each member that is not empty.
template <class M, class Body>
Status MovePlan::for_each_with(std::span<const M> moves, const Buffers &buffers, Body body) const {
    const M *next = moves.data();
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const CheckedMove &member = members_[i];
        if (member.length == 0) continue;
        M move = *next++;
        const MoveAddresses at = addresses_of(member, i, buffers);
        shift(move.from.address, member.from.address, at.from);
        shift(move.to.address, member.to.address, at.to);
        UCD_TRY(body(move));
    }
    return success;
}

// The plan's only step, which is a launch.
Submission MovePlan::launch_with(const Step &step, const Buffers &buffers) const {
    Submission submission;
    ShortList<Move> &moves = submission.add(step.kind, step.from, step.to).moves;
    (void)for_each_with(step.moves.span(), buffers, [&](const Move &move) {
        moves.push_back(move);
        return success;
    });
    return submission;
}

// Begins a start with other buffers, which it checks.
Status MovePlan::begin_with(const Context &context, const Buffers &buffers, Use &use) const {
    UCD_TRY(check_usable(context));
    UCD_TRY(use.begin_with_others());
    if (is_divided_)
        return fail(UCD_ERR__NOT_SUPPORTED, "a move of the plan is in several memories; "
                                            "ucd_plan_rebase gives such a plan other buffers");
    return check_buffers(context, 0, members_.size(), buffers);
}

Status MovePlan::start_with(Context &context, const Buffers &buffers,
                            std::unique_ptr<AsyncOperation> &operation) {
    Use use(shared_from_this());
    UCD_TRY(begin_with(context, buffers, use));
    if (only_step_ != nullptr && only_step_->kind == StepKind::on_host)
        return for_each_with(only_step_->checked.span(), buffers,
                             [&](const CheckedMove &m) { return run_routed(context, m); });
    auto lasting = std::make_shared<Use>(std::move(use));
    if (only_step_ != nullptr && only_step_->kind == StepKind::launch)
        return ucd::start(context, KeptSubmission(launch_with(*only_step_, buffers)),
                          std::move(lasting), operation);
    Router router(context, hints_, nullptr);
    SubmissionBuilder builder(router);
    UCD_TRY(add_members(builder, with_buffers(0, members_.size(), buffers)));
    builder.keep_alive(std::move(lasting));
    return builder.start(operation);
}

// Loads what a start with other buffers needs, since it may be captured into a graph.
Status MovePlan::make_ready(const StreamTarget &stream) {
    const std::lock_guard lock(ready_mutex_);
    if (std::find(ready_.begin(), ready_.end(), stream.executor) != ready_.end()) return success;
    for (CheckedMove m : members_) {
        if (m.length == 0) continue;
        use_bytes(m);
        const auto prepare = [&](const Type *type, const Side &side) -> Status {
            if (type == nullptr) return success;
            UCD_TRY(prepare_in(stream, *type, side.count, Op::replace, hints_.limits));
            return prepare_in(stream, *type, side.count, m.op, hints_.limits);
        };
        UCD_TRY(prepare(m.from_type, m.from));
        UCD_TRY(prepare(m.to_type, m.to));
    }
    ready_.push_back(stream.executor);
    return success;
}

Status MovePlan::start_with_in(Context &context, const Buffers &buffers,
                               const StreamTarget &stream) {
    Use use(shared_from_this()); // while the plan is read
    UCD_TRY(begin_with(context, buffers, use));
    UCD_TRY(make_ready(stream));
    if (only_step_ != nullptr && submission_->is_launch_on(stream.executor)) {
        Submission submission = launch_with(*only_step_, buffers);
        submission.kept = shared_from_this();
        const KeptSubmission kept(std::move(submission));
        return ucd::start_in(stream.stream, *kept, kept);
    }
    Router router(context, hints_, &stream);
    SubmissionBuilder builder(router);
    UCD_TRY(add_members(builder, with_buffers(0, members_.size(), buffers)));
    builder.keep_alive(shared_from_this());
    std::unique_ptr<AsyncOperation> none; // stays null: the work is in the stream
    return builder.start(none);
}

Status MovePlan::rebase(Context &context, std::size_t first, std::size_t count,
                        const Buffers &buffers) {
    UCD_TRY(check_usable(context));
    Use rebase(shared_from_this());
    UCD_TRY(rebase.begin(Use::rebase));
    if (first > members_.size() || count > members_.size() - first)
        return fail(UCD_ERR__INVALID_ARG,
                    "first is %zu and count is %zu; their sum must be at most the plan's %zu moves",
                    first, count, members_.size());
    UCD_TRY(check_buffers(context, first, count, buffers));
    std::vector<CheckedMove> members = with_buffers(first, count, buffers);
    KeptSubmission submission;
    bool is_divided = false;
    UCD_TRY(route(context, members, nullptr, submission, is_divided));
    ShortList<InStream> in_streams;
    for (const InStream &known : in_streams_) {
        KeptSubmission again;
        const StreamTarget stream{known.executor, {}};
        UCD_TRY(route(context, members, &stream, again, is_divided));
        in_streams.push_back({known.executor, std::move(again)});
    }
    members_ = std::move(members);
    submission_ = std::move(submission);
    is_divided_ = is_divided;
    only_step_ = only_step();
    in_streams_ = std::move(in_streams);
    return success;
}

} // namespace ucd
