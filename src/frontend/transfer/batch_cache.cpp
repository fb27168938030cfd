#include "transfer/batch_cache.h"

#include <algorithm>

namespace ucd {
namespace {

// Batches that have gone. Backends may let go of the last one after its context has ended.
class SpareBatches {
public:
    static SpareBatches &instance() {
        static SpareBatches *spares = new SpareBatches; // never destroyed
        return *spares;
    }
    std::unique_ptr<CachedBatch> take() {
        const std::lock_guard lock(mutex_);
        return std::move(spare_);
    }
    void give_back(std::unique_ptr<CachedBatch> batch) noexcept {
        if (batch->members() > BatchCache::max_members) return;
        batch->clear(); // outside the lock: types may end
        const std::lock_guard lock(mutex_);
        spare_.swap(batch);
    }

private:
    std::mutex mutex_;
    std::unique_ptr<CachedBatch> spare_; // the last one
};

} // namespace

std::shared_ptr<CachedBatch> make_batch(const Dispatch &dispatch, std::size_t members) {
    std::unique_ptr<CachedBatch> batch = SpareBatches::instance().take();
    if (batch == nullptr) batch = std::make_unique<CachedBatch>();
    std::shared_ptr<CachedBatch> made(batch.release(), [](CachedBatch *gone) {
        SpareBatches::instance().give_back(std::unique_ptr<CachedBatch>(gone));
    });
    made->begin(dispatch, members);
    return made;
}

BatchCache::~BatchCache() {
    batches_.clear();
    SpareBatches::instance().take();
}

void CachedBatch::begin(const Dispatch &dispatch, std::size_t members) {
    dispatch_ = dispatch;
    keys_.reserve(members);
    lengths_.reserve(members);
    moves_.reserve(members);
}

void CachedBatch::clear() noexcept {
    keys_.clear();
    lengths_.clear();
    moves_.clear();
    used_.clear();
    types_.clear();
    keeps_types_ = false;
}

Status CachedBatch::add(const MemberKey &key, const Transfer &t) {
    keys_.push_back(key);
    lengths_.push_back(t.length);
    // Also of a member that is empty: its handle is in the key.
    if (used_.empty() || used_.back() != t.type) {
        used_.push_back(t.type);
        types_.reserve(used_.capacity()); // for keep_types()
    }
    if (t.length == 0) return success;
    return make_move(dispatch_, t, moves_.emplace_back());
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

bool BatchCache::comes_again(const Dispatch &dispatch, std::size_t members,
                             uint64_t digest) noexcept {
    if (members > max_members) return false;
    constexpr uint32_t max_needed = 1024;
    const std::lock_guard lock(mutex_);
    for (Seen &seen : seen_) {
        if (seen.digest != digest || seen.members != members || !(seen.dispatch == dispatch))
            continue;
        if (++seen.times < seen.needed) return false;
        seen.times = 0;
        seen.needed = std::min(2 * seen.needed, max_needed);
        return true;
    }
    seen_[next_seen_++ % seen_.size()] = {dispatch, members, digest};
    return false;
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
