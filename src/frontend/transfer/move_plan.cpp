#include "transfer/move_plan.h"

namespace ucd {
namespace {

std::optional<LocationHint> copy_of(const LocationHint *hint) {
    return hint == nullptr ? std::nullopt : std::optional<LocationHint>(*hint);
}

} // namespace

// A start in progress.
class MovePlan::Start {
public:
    explicit Start(std::shared_ptr<MovePlan> plan) : plan_(std::move(plan)) {}
    Start(const Start &) = delete;
    Start &operator=(const Start &) = delete;
    ~Start() {
        if (is_own_) plan_->is_started_.store(false, std::memory_order_release);
    }
    Status begin() {
        is_own_ = !plan_->is_started_.exchange(true, std::memory_order_acq_rel);
        return is_own_ ? success : fail_started();
    }
    static Status fail_started() {
        return fail(UCD_ERR__INVALID_ARG, "plan is started, and that start has not ended");
    }

private:
    const std::shared_ptr<MovePlan> plan_;
    bool is_own_ = false;
};

MovePlan::MovePlan(const Context &context, std::vector<CheckedMember> members, Op op,
                   const Hints &hints)
    : context_number_(context.number), op_(op), in_hint_(copy_of(hints.inbuf)),
      out_hint_(copy_of(hints.outbuf)), hints_(hints), members_(std::move(members)) {
    hints_.inbuf = in_hint_ ? &*in_hint_ : nullptr;
    hints_.outbuf = out_hint_ ? &*out_hint_ : nullptr;
    for (const CheckedMember &m : members_) {
        types_.add(m.is_copy ? *m.copy.from_type : *m.move.type);
        if (m.is_copy) types_.add(*m.copy.to_type);
    }
}

Status MovePlan::create(Context &context, std::vector<CheckedMember> members, Op op,
                        const Hints &hints, std::shared_ptr<MovePlan> &plan) {
    auto made = std::make_shared<MovePlan>(context, std::move(members), op, hints);
    LocationCache locations(context, made->hints_);
    made->memories_.resize(made->members_.size());
    for (std::size_t i = 0; i < made->members_.size(); ++i)
        UCD_TRY(
            at_member(i, made->find_memories(locations, made->members_[i], made->memories_[i])));
    UCD_TRY(made->route(context, made->members_, made->routed_));
    plan = std::move(made);
    return success;
}

Status MovePlan::check_usable(const Context &context) const {
    if (context.number == context_number_) return success;
    return fail(UCD_ERR__INVALID_ARG, "plan was made before the last ucd_finalize");
}

Status MovePlan::find_memories(LocationCache &locations, const CheckedMember &m,
                               Memories &memories) const {
    if (m.length() == 0) return success;
    const bool pack = m.is_copy || m.move.direction == Direction::pack;
    const char *first = m.is_copy ? first_byte(*m.copy.from_type, m.copy.from.typed)
                                  : first_byte(*m.move.type, m.move.typed);
    const char *second = m.is_copy ? first_byte(*m.copy.to_type, m.copy.to.typed) : m.move.packed;
    if (!pack) std::swap(first, second);
    if (!in_hint_) UCD_TRY(locations.find(nullptr, first, memories[0].emplace()));
    if (!out_hint_) UCD_TRY(locations.find(nullptr, second, memories[1].emplace()));
    return success;
}

Status MovePlan::add_members(Submission &submission,
                             const std::vector<CheckedMember> &members) const {
    for (std::size_t i = 0; i < members.size(); ++i)
        UCD_TRY(at_member(i, submission.add(members[i])));
    return success;
}

Status MovePlan::route(Context &context, const std::vector<CheckedMember> &members,
                       KeptMembers &routed) const {
    Submission submission(context, op_, hints_, nullptr, Reuse::again);
    UCD_TRY(add_members(submission, members));
    return submission.prepare(routed);
}

Status MovePlan::route_in(Context &context, const std::vector<CheckedMember> &members,
                          const StreamTarget &stream, KeptMembers &routed) const {
    Submission submission(context, op_, hints_, &stream, Reuse::again);
    UCD_TRY(add_members(submission, members));
    return submission.prepare(routed);
}

Status MovePlan::start(Context &context, std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(check_usable(context));
    if (routed_ != nullptr && routed_->all_on_host()) {
        Start start(shared_from_this());
        UCD_TRY(start.begin());
        bool ran = false;
        return run_all_on_host(context, *routed_, op_, hints_.limits, ran);
    }
    auto start = std::make_shared<Start>(shared_from_this());
    UCD_TRY(start->begin());
    if (routed_ != nullptr) {
        auto work = std::make_unique<AsyncTransfer>();
        work->keep(std::move(start));
        return start_members(context, *routed_, op_, hints_.limits, std::move(work), operation);
    }
    // Lists that devices cannot access are copied again for each start.
    Submission submission(context, op_, hints_);
    UCD_TRY(add_members(submission, members_));
    submission.keep(std::move(start));
    return submission.start(operation);
}

Status MovePlan::start_in(Context &context, const StreamTarget &stream) {
    UCD_TRY(check_usable(context));
    if (is_started_.load(std::memory_order_acquire)) return Start::fail_started();
    if (routed_ != nullptr && routed_->is_launch_on(stream.executor))
        return start_members_in(stream.stream, *routed_, routed_);
    for (const InStream &known : in_streams_)
        if (known.executor == stream.executor)
            return start_members_in(stream.stream, *known.routed, known.routed);
    KeptMembers routed;
    UCD_TRY(route_in(context, members_, stream, routed));
    in_streams_.push_back({stream.executor, routed});
    return start_members_in(stream.stream, *routed, routed);
}

namespace {

// Sets a member's addresses from a rebase.
Status move_to(CheckedMember &m, std::size_t i, const MovePlan::Rebase &rebase) {
    const auto in = [&](char *&side) {
        if (rebase.inbufs != nullptr)
            side = static_cast<char *>(const_cast<void *>(rebase.inbufs[i]));
    };
    const auto out = [&](char *&side) {
        if (rebase.outbufs != nullptr) side = static_cast<char *>(rebase.outbufs[i]);
    };
    if (m.is_copy) {
        in(m.copy.from.typed);
        out(m.copy.to.typed);
        return success;
    }
    const bool pack = m.move.direction == Direction::pack;
    in(pack ? m.move.typed : m.move.packed);
    out(pack ? m.move.packed : m.move.typed);
    if (m.move.packed == nullptr && m.move.length > 0)
        return fail_null_packed(pack ? "outbuf" : "inbuf");
    return m.is_plain && m.move.typed == nullptr && m.move.length > 0 ? fail_null_packed("inbuf")
                                                                      : success;
}

Status check_same_memory(const char *argument, const std::optional<MemoryLocation> &before,
                         const std::optional<MemoryLocation> &after) {
    if (!before || is_same_memory(*before, *after)) return success;
    return fail(UCD_ERR__INVALID_ARG, "%s is in %s memory; it must be in %s memory, as before",
                argument, name_of(*after).text, name_of(*before).text);
}

} // namespace

Status MovePlan::rebase(Context &context, const Rebase &rebase) {
    UCD_TRY(check_usable(context));
    if (is_started_.load(std::memory_order_acquire)) return Start::fail_started();
    if (rebase.first > members_.size() || rebase.count > members_.size() - rebase.first)
        return fail(UCD_ERR__INVALID_ARG,
                    "first is %zu and count is %zu; their sum must be at most the plan's %zu moves",
                    rebase.first, rebase.count, members_.size());
    std::vector<CheckedMember> members = members_;
    LocationCache locations(context, hints_);
    for (std::size_t i = 0; i < rebase.count; ++i) {
        const std::size_t index = rebase.first + i;
        CheckedMember &m = members[index];
        const auto move = [&]() -> Status {
            UCD_TRY(move_to(m, i, rebase));
            Memories memories;
            UCD_TRY(find_memories(locations, m, memories));
            UCD_TRY(check_same_memory("inbuf", memories_[index][0], memories[0]));
            return check_same_memory("outbuf", memories_[index][1], memories[1]);
        };
        UCD_TRY(at_member(index, move()));
    }
    KeptMembers routed;
    UCD_TRY(route(context, members, routed));
    ShortList<InStream> in_streams;
    for (const InStream &known : in_streams_) {
        KeptMembers again;
        UCD_TRY(route_in(context, members, {known.executor, {}}, again));
        in_streams.push_back({known.executor, std::move(again)});
    }
    members_ = std::move(members);
    routed_ = std::move(routed);
    in_streams_ = std::move(in_streams);
    return success;
}

} // namespace ucd
