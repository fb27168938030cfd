#include "known_batches.h"

#include "staging.h"

#include <algorithm>

namespace ucd {
namespace {

uint64_t next_identity() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

} // namespace

KnownBatch::KnownBatch(const BatchTerms &terms) : terms_(terms), identity_(next_identity()) {}

void KnownBatch::reserve(std::size_t members) {
    keys_.reserve(members);
    lengths_.reserve(members);
    jobs_.reserve(members);
    used_.reserve(members);
    types_.reserve(members);
}

Status KnownBatch::add(const MemberKey &key, const Transfer &t) {
    keys_.push_back(key);
    lengths_.push_back(t.length);
    used_.push_back(t.type); // also of a member that is empty: its handle is in the key
    if (t.length == 0) return success;
    const Executor &executor = terms_.executor;
    const Plan *plan;
    UCD_TRY(plan_of(*t.type, *executor.backend, executor.index, t.count > 1, plan));
    jobs_.push_back({.plan = plan,
                     .laid_out = t.laid_out,
                     .packed = t.packed,
                     .count = t.count,
                     .offset = t.offset,
                     .length = t.length,
                     .direction = terms_.direction,
                     .op = terms_.op,
                     .elements = terms_.op == Op::replace ? nullptr : &elements_of(*t.type),
                     .limits = terms_.limits,
                     .laid_out_kind = terms_.laid_out_kind,
                     .packed_kind = terms_.packed_kind});
    return success;
}

void KnownBatch::keep_types() noexcept {
    for (const Type *type : used_) types_.add(*type);
    keeps_types_ = true;
}

std::shared_ptr<KnownBatch> KnownBatches::take_oldest() noexcept {
    const auto it =
        std::min_element(batches_.begin(), batches_.end(), [](const auto &a, const auto &b) {
            return a->used_at_.load(std::memory_order_relaxed) <
                   b->used_at_.load(std::memory_order_relaxed);
        });
    std::shared_ptr<KnownBatch> oldest = std::move(*it);
    batches_.erase(it);
    members_ -= oldest->members();
    return oldest;
}

void KnownBatches::add(std::shared_ptr<KnownBatch> batch) noexcept {
    if (batch->members() == 0 || batch->members() > most_members) return;
    std::array<std::shared_ptr<KnownBatch>, most_batches> forgotten; // types end outside the lock
    std::size_t count = 0;
    batch->used_at_.store(++uses_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    while (batches_.size() == most_batches || members_ + batch->members() > most_members)
        forgotten[count++] = take_oldest();
    members_ += batch->members();
    batches_.push_back(std::move(batch));
}

bool find_terms(const Context &context, const Hints &hints, Direction direction, Op op,
                BatchTerms &terms) {
    if (hints.inbuf == nullptr || hints.outbuf == nullptr || hints.limits.engine == Engine::dma)
        return false;
    Place in, out;
    if (!find_place(context, hints, hints.inbuf, nullptr, in).ok() ||
        !find_place(context, hints, hints.outbuf, nullptr, out).ok())
        return false;
    const bool pack = direction == Direction::pack;
    const Route route = find_route(context, hints, pack ? in : out, pack ? out : in);
    if (route.way != Way::direct) return false;
    terms = {route.packed, direction, op, hints.limits, route.laid_out_kind, route.packed_kind};
    return true;
}

Status start(Context &context, const std::shared_ptr<KnownBatch> &batch,
             std::unique_ptr<Operation> &operation) {
    if (batch->jobs().jobs.empty()) return success;
    auto work = std::make_unique<Movement>();
    work->expect_launches(1);
    work->attempt([&] { return work->launch(batch->terms().executor, batch->jobs()); });
    // While the device is at it.
    if (!batch->keeps_types()) {
        batch->keep_types();
        if (!work->failed()) context.batches->add(batch);
    }
    work->keep(batch);
    return Movement::conclude(std::move(work), false, operation);
}

} // namespace ucd
