// Which handles of datatypes were committed, and whether what was known of a handle still holds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucd_mpi {

// Changes when a type of this handle is committed, gets the attribute or loses it. 0: no type of
// this handle was ever committed.
using HandleStamp = std::uint64_t;

// Thread-safe and lock-free. Handles share buckets, so a stamp may change for another handle's sake
// and, rarely, may not be 0 for a handle that was never committed. MPI is asked only about handles
// whose stamp is not 0: for an invalid handle it would raise an error on MPI_COMM_WORLD, where the
// user's call raises it on its own communicator.
class CommittedHandles {
public:
    using Handle = std::uintptr_t;

    void add(Handle type) {
        Bucket &bucket = bucket_of(type);
        // A tag stays; to read it takes a fraction of the time of writing it again.
        if ((bucket.load(std::memory_order_relaxed) & tag_of(type)) == 0)
            bucket.fetch_or(tag_of(type), std::memory_order_relaxed);
        change(type);
    }
    // Call before a type of this handle gets the attribute.
    void add_attribute(Handle type) {
        bucket_of(type).fetch_or(tag_of(type) << tags, std::memory_order_relaxed);
        change(type);
    }
    // False if no type of this handle ever had the attribute.
    bool may_have_attribute(Handle type) const {
        return (bucket_of(type).load(std::memory_order_acquire) & tag_of(type) << tags) != 0;
    }
    void change(Handle type) { bucket_of(type).fetch_add(one_change, std::memory_order_release); }
    void change_all() {
        for (Bucket &bucket : buckets_) bucket.fetch_add(one_change, std::memory_order_release);
    }
    HandleStamp stamp(Handle type) const {
        const HandleStamp stamp = bucket_of(type).load(std::memory_order_acquire);
        return (stamp & tag_of(type)) != 0 ? stamp : 0;
    }
    // The stamp after the next change.
    static constexpr HandleStamp after(HandleStamp stamp) { return stamp + one_change; }

private:
    // The lowest bits are for tags that were committed, the next ones for tags that had the
    // attribute; the upper half counts changes.
    using Bucket = std::atomic<HandleStamp>;
    static constexpr HandleStamp one_change = HandleStamp{1} << 32;
    static constexpr std::size_t buckets = 2048; // a power of two
    static constexpr unsigned tags = 16;

    static constexpr std::uint64_t hash(Handle type) {
        return (std::uint64_t{type} * 0x9e3779b97f4a7c15) >> 32;
    }
    static constexpr HandleStamp tag_of(Handle type) { return HandleStamp{1} << hash(type) % tags; }
    Bucket &bucket_of(Handle type) { return buckets_[hash(type) / tags % buckets]; }
    const Bucket &bucket_of(Handle type) const { return buckets_[hash(type) / tags % buckets]; }

    std::array<Bucket, buckets> buckets_{};
};

inline constinit CommittedHandles committed_handles; // of this process

} // namespace ucd_mpi
