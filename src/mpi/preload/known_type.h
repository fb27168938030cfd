// What this library knows of a committed datatype, and the look-up by its handle.
#pragma once

#include "preload/committed_handles.h"
#include "preload/facts.h"
#include "preload/packed_signature.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace ucd_mpi {

// `again` is for persistent requests: they are meant to be started many times, so their types are
// read at once.
enum class ExpectedUse { once, again };

// A type that was read. Made at most once for each committed type, as an attribute of it, and
// shared by its duplicates and by calls that use it. Only its item_datatype changes.
class KnownType {
public:
    // Never fails: a type that cannot be converted is left to MPI.
    explicit KnownType(MPI_Datatype datatype);
    KnownType(const KnownType &) = delete;
    KnownType &operator=(const KnownType &) = delete;

    void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release();

    // Whether it was converted. If not, the members below are not valid.
    bool is_converted() const { return converted_.type != nullptr; }
    ucd_type_t type() const { return converted_.type.get(); }
    const TypeFacts &facts() const { return facts_; }
    std::uintptr_t size() const { return facts_.size; }

    // For which sizes of calls this library is faster. Messages and collective calls only if the
    // elements can be described to MPI.
    const Gains &gains() const { return gains_; }
    // Whether the data would be at addresses that are never mapped: the buffer is null, and the
    // type has no absolute addresses.
    bool has_no_address(const void *buffer) const;

    const PackedSignature &signature() const { return signature_; }
    // The MPI type of one packed item; MPI_DATATYPE_NULL if MPI fails to create it.
    MPI_Datatype item_datatype();
    bool item_is_predefined() const { return signature_.is_predefined(); }

private:
    ~KnownType();
    void read(MPI_Datatype datatype);

    std::atomic<long> references_{1};
    Converted converted_;
    TypeFacts facts_;
    Gains gains_;
    PackedSignature signature_;
    std::once_flag item_made_;
    MPI_Datatype item_ = MPI_DATATYPE_NULL;
};

// An owned reference; empty for types that are left to MPI.
class KnownTypeRef {
public:
    KnownTypeRef() = default;
    explicit KnownTypeRef(KnownType *known) : known_(known) {
        if (known_ != nullptr) known_->add_reference();
    }
    KnownTypeRef(KnownTypeRef &&other) noexcept : known_(std::exchange(other.known_, nullptr)) {}
    KnownTypeRef &operator=(KnownTypeRef &&other) noexcept {
        std::swap(known_, other.known_);
        return *this;
    }
    ~KnownTypeRef() {
        if (known_ != nullptr) known_->release();
    }
    KnownType *operator->() const { return known_; }
    explicit operator bool() const { return known_ != nullptr; }

private:
    KnownType *known_ = nullptr;
};

// Call after MPI has committed the datatype.
void remember_committed(MPI_Datatype datatype);
// Call after MPI has duplicated a datatype: the duplicate inherits the attribute, and is committed
// if the original is.
void remember_duplicate(MPI_Datatype datatype, MPI_Datatype duplicate);
inline bool was_committed(MPI_Datatype datatype) {
    return committed_handles.stamp((CommittedHandles::Handle)datatype) != 0; // a pointer or an int
}

// Call before the datatype is freed: deletes the attribute. MPI would otherwise delete it when the
// last request that uses the type completes: while MPICH makes progress, it releases its lock for
// the callback, and then another thread makes progress at the same time.
void forget_freed(MPI_Datatype datatype);

// Call when MPI has ended and all types are gone.
void forget_types();

// Whether any type has been committed; false in programs that have no derived types.
bool has_committed_types();

// What a thread remembers of a handle, as long as its stamp does not change.
struct RememberedType {
    MPI_Datatype datatype = {};
    HandleStamp stamp = 0;
    KnownType *known = nullptr;
    // An item's size; 0 if the type was not read and MPI moves it anyway.
    std::uint64_t size = 0;
    // Messages of fewer bytes are left to MPI, and do not count in what comes before reading.
    std::uint64_t least = UINT64_MAX;
    std::uint64_t bytes_before_reading = 0; // that MPI still moves
    bool numbers_counted = false;           // in the latter
    // With this stamp, the handle's type does not have the attribute: it is the first one that was
    // committed after this thread freed the one before.
    HandleStamp without_attribute = 0;
};
inline constexpr std::size_t remembered_types = 32;
[[gnu::tls_model(
    "initial-exec")]] inline constinit thread_local std::array<RememberedType, remembered_types>
    last_looked_up;
inline RememberedType &remembered_of(CommittedHandles::Handle bits) {
    return last_looked_up[(bits ^ bits >> 5 ^ bits >> 10) % remembered_types];
}

// Asks MPI about a committed type that this thread does not remember.
void look_up(RememberedType &slot, MPI_Datatype datatype, HandleStamp stamp);
// Returns what this thread remembers of a type; if that is nothing, asks MPI. The stamp is that of
// the handle, and not 0.
inline RememberedType &remembered_type(MPI_Datatype datatype, HandleStamp stamp) {
    RememberedType &slot = remembered_of((CommittedHandles::Handle)datatype); // a pointer or an int
    if (slot.datatype != datatype || slot.stamp != stamp) [[unlikely]]
        look_up(slot, datatype, stamp);
    return slot;
}

// The type if it is known, or if it is to be read now: `count` items are about to be moved, by this
// library or by MPI. Null for predefined types and for types that were not committed.
KnownType *find_known(MPI_Datatype datatype, MPI_Count count, ExpectedUse use);
// Whether find_known finds nothing to do for a message, in a few instructions; its bytes count
// then, as there.
inline bool is_left_to_mpi(MPI_Datatype datatype, MPI_Count count) {
    const HandleStamp stamp = committed_handles.stamp((CommittedHandles::Handle)datatype);
    if (stamp == 0) return true;
    RememberedType &slot = remembered_type(datatype, stamp);
    std::uint64_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow(slot.size, static_cast<std::uint64_t>(count), &bytes))
        return false;
    if (bytes < slot.least) return true;
    if (slot.known != nullptr || bytes >= slot.bytes_before_reading) return false;
    slot.bytes_before_reading -= bytes;
    return true;
}
// Reads the type if it is not known, whether that pays or not. Also finds predefined types, whose
// entries are never freed. Null if it cannot be converted.
KnownType *find_converted(MPI_Datatype datatype);

} // namespace ucd_mpi
