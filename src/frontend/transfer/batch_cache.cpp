#include "transfer/batch_cache.h"

#include <algorithm>

namespace ucd {
namespace {

uint64_t next_identity() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

} // namespace

CachedBatch::CachedBatch(const Dispatch &dispatch)
    : dispatch_(dispatch), identity_(next_identity()) {}

void CachedBatch::reserve(std::size_t members) {
    keys_.reserve(members);
    lengths_.reserve(members);
    jobs_.reserve(members);
    used_.reserve(members);
    types_.reserve(members);
}

Status CachedBatch::add(const MemberKey &key, const Transfer &t) {
    keys_.push_back(key);
    lengths_.push_back(t.length);
    used_.push_back(t.type); // also of a member that is empty: its handle is in the key
    if (t.length == 0) return success;
    return make_job(dispatch_, t, jobs_.emplace_back());
}

void CachedBatch::keep_types() noexcept {
    for (const Type *type : used_) types_.add(*type);
    keeps_types_ = true;
}

std::shared_ptr<CachedBatch> BatchCache::take_oldest() noexcept {
    const auto it =
        std::min_element(batches_.begin(), batches_.end(), [](const auto &a, const auto &b) {
            return a->used_at_.load(std::memory_order_relaxed) <
                   b->used_at_.load(std::memory_order_relaxed);
        });
    std::shared_ptr<CachedBatch> oldest = std::move(*it);
    batches_.erase(it);
    members_ -= oldest->members();
    return oldest;
}

void BatchCache::add(std::shared_ptr<CachedBatch> batch) noexcept {
    if (batch->members() == 0 || batch->members() > max_members) return;
    std::array<std::shared_ptr<CachedBatch>, max_batches> forgotten; // types end outside the lock
    std::size_t count = 0;
    batch->used_at_.store(++uses_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    while (batches_.size() == max_batches || members_ + batch->members() > max_members)
        forgotten[count++] = take_oldest();
    members_ += batch->members();
    batches_.push_back(std::move(batch));
}

} // namespace ucd
