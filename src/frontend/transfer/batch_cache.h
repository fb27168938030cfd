// Batches that one device moves, and what was worked out for them. One that comes again is
// compared, and neither checked nor planned.
#pragma once

#include "transfer/arguments.h"
#include "transfer/async_operation.h"
#include "transfer/dispatch.h"
#include "transfer/route.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace ucd {

// The inputs of a member's descriptor.
using MemberKey = std::array<uintptr_t, 6>;

template <class Desc>
MemberKey key_of(const Desc &desc) {
    static_assert(sizeof(Desc) == sizeof(MemberKey) + sizeof(uintptr_t) + sizeof desc.reserved);
    MemberKey key;
    std::memcpy(&key, &desc, sizeof key); // they come first, all of them words
    return key;
}

// Without a branch for each word: this is what a member of a batch costs that comes again.
template <class Desc>
bool is_member(const MemberKey &key, const Desc &desc) {
    const MemberKey other = key_of(desc);
    uint64_t differences = desc.reserved[0] | desc.reserved[1];
    for (std::size_t i = 0; i < key.size(); ++i) differences |= key[i] ^ other[i];
    return differences == 0;
}

class CachedBatch {
public:
    CachedBatch() = default;
    // To be called while it is empty, and reserves room for so many members.
    void begin(const Dispatch &dispatch, std::size_t members);
    // Empties it; its memory stays.
    void clear() noexcept;
    // A checked member, in the order of the descriptors.
    Status add(const MemberKey &key, const Transfer &t);
    // From here on its types live as long as the batch.
    void keep_types() noexcept;
    bool keeps_types() const { return keeps_types_; }

    template <class Desc>
    bool may_be_of(const Dispatch &dispatch, std::span<const Desc> descs) const {
        return keys_.size() == descs.size() && dispatch_ == dispatch &&
               is_member(keys_.front(), descs.front()) && is_member(keys_.back(), descs.back());
    }
    template <class Desc>
    bool is_of(std::span<const Desc> descs) const {
        return std::equal(keys_.begin(), keys_.end(), descs.begin(), is_member<Desc>);
    }

    const Dispatch &dispatch() const { return dispatch_; }
    MoveList moves() const { return moves_; }
    std::size_t members() const { return keys_.size(); }
    // Bytes that a member moves.
    uintptr_t length(std::size_t member) const { return lengths_[member]; }

private:
    friend class BatchCache;
    Dispatch dispatch_;
    std::vector<MemberKey> keys_;
    std::vector<uintptr_t> lengths_;
    std::vector<Move> moves_; // of members that have bytes
    std::vector<const Type *> used_;
    KeptTypes types_;
    bool keeps_types_ = false;
    std::atomic<uint64_t> used_at_{0};
};

// An empty batch. The memory of one that has gone serves again: memory fresh from the system costs
// more than what is written there.
std::shared_ptr<CachedBatch> make_batch(const Dispatch &dispatch, std::size_t members);

// The last few batches that have come again. They hold references to their types, so that no new
// type can get the handle that a cached batch is known by.
class BatchCache {
public:
    BatchCache() { batches_.reserve(max_batches); }
    ~BatchCache();

    // Null if it is not known.
    template <class Desc>
    std::shared_ptr<CachedBatch> find(const Dispatch &dispatch, std::span<const Desc> descs) {
        if (descs.empty()) return nullptr;
        // Compared outside the lock, all but their ends: there may be many members.
        std::array<std::shared_ptr<CachedBatch>, max_batches> candidates;
        std::size_t count = 0;
        {
            const std::lock_guard lock(mutex_);
            for (const auto &batch : batches_)
                if (batch->may_be_of(dispatch, descs)) candidates[count++] = batch;
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (!candidates[i]->is_of(descs)) continue;
            candidates[i]->used_at_.store(++uses_, std::memory_order_relaxed);
            return std::move(candidates[i]);
        }
        return nullptr;
    }

    // Whether a batch like this was asked about lately: then it is worth being added. Most batches
    // never come again, and what is remembered of a member takes longer than the rest. `digest` is
    // of some descriptors, and may be that of another batch. So who asks again, since the batch was
    // not found after all, is told so half as often.
    bool comes_again(const Dispatch &dispatch, std::size_t members, uint64_t digest) noexcept;

    // Its types are kept.
    void add(std::shared_ptr<CachedBatch> batch) noexcept;

    static constexpr std::size_t max_members = std::size_t{1} << 18; // in all

private:
    static constexpr std::size_t max_batches = 8;
    struct Seen {
        Dispatch dispatch;
        std::size_t members = 0;
        uint64_t digest = 0;
        uint32_t times = 0, needed = 1; // since it was last said to come again, and to be said so
    };
    std::shared_ptr<CachedBatch> take_oldest() noexcept;

    std::mutex mutex_;
    std::vector<std::shared_ptr<CachedBatch>> batches_;
    std::size_t members_ = 0;
    std::array<Seen, 4 * max_batches> seen_;
    std::size_t next_seen_ = 0;
    std::atomic<uint64_t> uses_{0};
};

// Makes a batch of descriptors, which are checked. It stays null if the executor lacks the op for
// one of the types.
template <class Desc>
Status make_cached_batch(const Dispatch &dispatch, std::span<const Desc> descs,
                         std::shared_ptr<CachedBatch> &batch) {
    auto made = make_batch(dispatch, descs.size());
    const auto op = static_cast<ucd_op_t>(dispatch.settings.op);
    for (std::size_t i = 0; i < descs.size(); ++i) {
        Transfer t;
        UCD_TRY(at_member(i, check_member(descs[i], op, dispatch.settings.direction, t)));
        // Each call looks anew where the indices are.
        if (t.type->by_reference) return success;
        if (dispatch.settings.op != Op::replace &&
            !supports(dispatch.executor, dispatch.settings.op, *t.type))
            return success;
        UCD_TRY(at_member(i, made->add(key_of(descs[i]), t)));
    }
    batch = std::move(made);
    return success;
}

} // namespace ucd
