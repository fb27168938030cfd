#include "transfer/move_plan.h"

#include <algorithm>
#include <utility>

namespace ucd {
namespace {

std::optional<LocationHint> copy_of(const LocationHint *hint) {
    return hint == nullptr ? std::nullopt : std::optional<LocationHint>(*hint);
}

struct Addresses {
    char *in, *out;
};

// The addresses that a member has; its entry in the arrays is number `i`.
[[gnu::always_inline]] inline Addresses addresses_of(const CheckedMove &m, std::size_t i,
                                                     const MovePlan::Buffers &buffers) {
    return {buffers.inbufs == nullptr ? m.from.address
                                      : static_cast<char *>(const_cast<void *>(buffers.inbufs[i])),
            buffers.outbufs == nullptr ? m.to.address : static_cast<char *>(buffers.outbufs[i])};
}

CheckedMove moved_to(CheckedMove m, const Addresses &at) {
    m.from.address = at.in;
    m.to.address = at.out;
    return m;
}

} // namespace

// A use of a plan by a start in progress, or by a rebase.
class MovePlan::Start {
public:
    // What uses may have in common: starts with other buffers are counted in the lower bits, and
    // every other use is alone.
    static constexpr uint32_t with_others = 1, with_own = uint32_t{1} << 31,
                              rebase = uint32_t{1} << 30;

    explicit Start(std::shared_ptr<MovePlan> plan) : plan_(std::move(plan)) {}
    Start(Start &&other) noexcept
        : plan_(std::move(other.plan_)), use_(std::exchange(other.use_, 0)) {}
    ~Start() {
        if (use_ != 0) plan_->in_use_.fetch_sub(use_, std::memory_order_release);
    }
    // Begins a start with the plan's buffers, or a rebase.
    Status begin(uint32_t use) {
        uint32_t unused = 0;
        if (!plan_->in_use_.compare_exchange_strong(unused, use, std::memory_order_acq_rel))
            return fail_started();
        use_ = use;
        return success;
    }
    Status begin_with_others() {
        use_ = with_others;
        if ((plan_->in_use_.fetch_add(use_, std::memory_order_acq_rel) & rebase) == 0)
            return success;
        return fail(UCD_ERR__INVALID_ARG, "another thread is in ucd_plan_rebase of this plan");
    }
    static Status fail_started() {
        return fail(UCD_ERR__INVALID_ARG, "plan is started, and that start has not ended");
    }

private:
    std::shared_ptr<MovePlan> plan_;
    uint32_t use_ = 0;
};

MovePlan::MovePlan(const Context &context, std::vector<CheckedMove> members, Op op,
                   const Hints &hints)
    : context_number_(context.number), op_(op), in_hint_(copy_of(hints.inbuf)),
      out_hint_(copy_of(hints.outbuf)), hints_(hints), members_(std::move(members)) {
    hints_.inbuf = in_hint_ ? &*in_hint_ : nullptr;
    hints_.outbuf = out_hint_ ? &*out_hint_ : nullptr;
    for (const CheckedMove &m : members_) {
        for (const Type *type : {m.from_type, m.to_type})
            if (type != nullptr) types_.add(*type);
    }
}

Status MovePlan::create(Context &context, std::vector<CheckedMove> members, Op op,
                        const Hints &hints, std::shared_ptr<MovePlan> &plan) {
    auto made = std::make_shared<MovePlan>(context, std::move(members), op, hints);
    LocationCache locations(context, made->hints_);
    made->memories_.resize(made->members_.size());
    for (std::size_t i = 0; i < made->members_.size(); ++i) {
        const CheckedMove &m = made->members_[i];
        UCD_TRY(at_member(i, made->find_memories(locations, m, m.from.address, m.to.address,
                                                 made->memories_[i])));
    }
    UCD_TRY(made->route(context, made->members_, nullptr, made->routed_, made->is_divided_));
    made->start_kind_ = made->kind_of_start();
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

Status MovePlan::add_members(Submission &submission,
                             const std::vector<CheckedMove> &members) const {
    for (std::size_t i = 0; i < members.size(); ++i)
        UCD_TRY(at_member(i, submission.add(members[i])));
    return success;
}

Status MovePlan::route(Context &context, const std::vector<CheckedMove> &members,
                       const StreamTarget *stream, KeptMembers &routed, bool &is_divided) const {
    Submission submission(context, op_, hints_, stream, Reuse::again);
    UCD_TRY(add_members(submission, members));
    is_divided = submission.is_any_divided();
    return submission.prepare(routed);
}

Status MovePlan::start(Context &context, std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(check_usable(context));
    if (routed_ != nullptr && routed_->all_on_host()) {
        Start start(shared_from_this());
        UCD_TRY(start.begin(Start::with_own));
        bool ran = false;
        return run_all_on_host(context, *routed_, ran);
    }
    auto start = std::make_shared<Start>(shared_from_this());
    UCD_TRY(start->begin(Start::with_own));
    if (routed_ != nullptr) {
        auto work = std::make_unique<AsyncTransfer>();
        work->keep(std::move(start));
        return start_members(context, *routed_, std::move(work), operation);
    }
    // Lists that devices cannot access are copied again for each start.
    Submission submission(context, op_, hints_);
    UCD_TRY(add_members(submission, members_));
    submission.keep(std::move(start));
    return submission.start(operation);
}

Status MovePlan::start_in(Context &context, const StreamTarget &stream) {
    UCD_TRY(check_usable(context));
    if (in_use_.load(std::memory_order_acquire) != 0) return Start::fail_started();
    if (routed_ != nullptr && routed_->is_launch_on(stream.executor))
        return start_members_in(stream.stream, *routed_, routed_);
    for (const InStream &known : in_streams_)
        if (known.executor == stream.executor)
            return start_members_in(stream.stream, *known.routed, known.routed);
    KeptMembers routed;
    bool is_divided = false; // known since the plan was made
    UCD_TRY(route(context, members_, &stream, routed, is_divided));
    in_streams_.push_back({stream.executor, routed});
    return start_members_in(stream.stream, *routed, routed);
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

// Whether all that a start does is one list.
MovePlan::StartKind MovePlan::kind_of_start() const {
    if (routed_ == nullptr || !routed_->staged.empty()) return StartKind::several;
    const RoutedMembers &r = *routed_;
    const auto filled = static_cast<std::size_t>(std::count_if(
        members_.begin(), members_.end(), [](const CheckedMove &m) { return m.length > 0; }));
    if (r.launches.empty() && r.on_host.size() == filled) return StartKind::on_host;
    const bool is_launch = r.launches.size() == 1 && r.launches.begin()->moves.size() == filled;
    return is_launch ? StartKind::launch : StartKind::several;
}

Status MovePlan::check_undivided() const {
    if (!is_divided_) return success;
    return fail(UCD_ERR__NOT_SUPPORTED, "a move of the plan is in several memories; "
                                        "ucd_plan_rebase gives such a plan other buffers");
}

// Checks buffers of consecutive members.
Status MovePlan::check_buffers(const Context &context, std::size_t first, std::size_t count,
                               const Buffers &buffers) const {
    for (std::size_t i = 0; i < count; ++i) {
        const CheckedMove &m = members_[first + i];
        const Addresses at = addresses_of(m, i, buffers);
        if (at.in != nullptr && at.out != nullptr) continue;
        UCD_TRY(at_member(first + i, check_packed(moved_to(m, at))));
    }
    return all_on_host(context, hints_) ? success : check_memories(context, first, count, buffers);
}

Status MovePlan::check_memories(const Context &context, std::size_t first, std::size_t count,
                                const Buffers &buffers) const {
    LocationCache locations(context, hints_);
    for (std::size_t i = first; i < first + count; ++i) {
        const auto check = [&]() -> Status {
            const Addresses at = addresses_of(members_[i], i - first, buffers);
            Memories memories;
            UCD_TRY(find_memories(locations, members_[i], at.in, at.out, memories));
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
Status MovePlan::for_each_with(const ShortList<M> &moves, const Buffers &buffers, Body body) const {
    const M *next = moves.begin();
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const CheckedMove &member = members_[i];
        if (member.length == 0) continue;
        M move = *next++;
        const Addresses at = addresses_of(member, i, buffers);
        shift(move.from.address, member.from.address, at.in);
        shift(move.to.address, member.to.address, at.out);
        UCD_TRY(body(move));
    }
    return success;
}

// The plan's only launch.
RoutedMembers MovePlan::launch_with(const Buffers &buffers) const {
    RoutedMembers members;
    const Launch &own = *routed_->launches.begin();
    Launch &launch = members.launches.push_back({});
    launch.executor = own.executor;
    (void)for_each_with(own.moves, buffers, [&](const Move &move) {
        launch.moves.push_back(move);
        return success;
    });
    return members;
}

Status MovePlan::start_with(Context &context, const Buffers &buffers,
                            std::unique_ptr<AsyncOperation> &operation) {
    UCD_TRY(check_usable(context));
    Start start(shared_from_this());
    UCD_TRY(start.begin_with_others());
    UCD_TRY(check_undivided());
    UCD_TRY(check_buffers(context, 0, members_.size(), buffers));
    if (start_kind_ == StartKind::on_host)
        return for_each_with(routed_->on_host, buffers,
                             [&](CheckedMove &m) { return run_routed(context, m); });
    auto lasting = std::make_shared<Start>(std::move(start));
    if (start_kind_ == StartKind::launch) {
        auto work = std::make_unique<AsyncTransfer>();
        work->keep(std::move(lasting));
        return start_members(context, launch_with(buffers), std::move(work), operation);
    }
    Submission submission(context, op_, hints_);
    UCD_TRY(add_members(submission, with_buffers(0, members_.size(), buffers)));
    submission.keep(std::move(lasting));
    return submission.start(operation);
}

// Loads what a start with other buffers needs, since it may be captured into a graph.
Status MovePlan::make_ready(const StreamTarget &stream) {
    const std::lock_guard lock(ready_mutex_);
    if (std::find(ready_.begin(), ready_.end(), stream.executor) != ready_.end()) return success;
    const auto prepare = [&](const Type *type, const Side &side) -> Status {
        if (type == nullptr) return success;
        UCD_TRY(prepare_in(stream, *type, side.count, Op::replace, hints_.limits));
        return prepare_in(stream, *type, side.count, op_, hints_.limits);
    };
    for (CheckedMove m : members_) {
        if (m.length == 0) continue;
        use_bytes(m);
        UCD_TRY(prepare(m.from_type, m.from));
        UCD_TRY(prepare(m.to_type, m.to));
    }
    ready_.push_back(stream.executor);
    return success;
}

Status MovePlan::start_with_in(Context &context, const Buffers &buffers,
                               const StreamTarget &stream) {
    UCD_TRY(check_usable(context));
    Start start(shared_from_this()); // while the plan is read
    UCD_TRY(start.begin_with_others());
    UCD_TRY(check_undivided());
    UCD_TRY(check_buffers(context, 0, members_.size(), buffers));
    UCD_TRY(make_ready(stream));
    if (start_kind_ == StartKind::launch && routed_->is_launch_on(stream.executor)) {
        RoutedMembers members = launch_with(buffers);
        members.kept = shared_from_this();
        const KeptMembers kept(std::move(members));
        return start_members_in(stream.stream, *kept, kept);
    }
    Submission submission(context, op_, hints_, &stream);
    UCD_TRY(add_members(submission, with_buffers(0, members_.size(), buffers)));
    submission.keep(shared_from_this());
    std::unique_ptr<AsyncOperation> none; // stays null: the work is in the stream
    return submission.start(none);
}

Status MovePlan::rebase(Context &context, std::size_t first, std::size_t count,
                        const Buffers &buffers) {
    UCD_TRY(check_usable(context));
    Start rebase(shared_from_this());
    UCD_TRY(rebase.begin(Start::rebase));
    if (first > members_.size() || count > members_.size() - first)
        return fail(UCD_ERR__INVALID_ARG,
                    "first is %zu and count is %zu; their sum must be at most the plan's %zu moves",
                    first, count, members_.size());
    UCD_TRY(check_buffers(context, first, count, buffers));
    std::vector<CheckedMove> members = with_buffers(first, count, buffers);
    KeptMembers routed;
    bool is_divided = false;
    UCD_TRY(route(context, members, nullptr, routed, is_divided));
    ShortList<InStream> in_streams;
    for (const InStream &known : in_streams_) {
        KeptMembers again;
        const StreamTarget stream{known.executor, {}};
        UCD_TRY(route(context, members, &stream, again, is_divided));
        in_streams.push_back({known.executor, std::move(again)});
    }
    members_ = std::move(members);
    routed_ = std::move(routed);
    is_divided_ = is_divided;
    start_kind_ = kind_of_start();
    in_streams_ = std::move(in_streams);
    return success;
}

} // namespace ucd
